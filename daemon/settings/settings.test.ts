import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FileWriteError } from '../kit/atomic-file.ts';
import { createLog } from '../kit/log.ts';
import { SetupError } from '../kit/setup-error.ts';
import type { FaultStep } from '../kit/temp-file.ts';
import { ConfigEditError } from './config-file.ts';
import { parseEnvFile } from './env-file.ts';
import { openSettings, type Settings, type SettingsOptions } from './settings.ts';

let base = '';
let lines: string[] = [];
const open: Settings[] = [];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'svc-settings-'));
  lines = [];
});
afterEach(() => {
  for (const settings of open.splice(0)) settings.close();
  rmSync(base, { recursive: true, force: true });
});

const config = (name = 'config.toml') => join(base, 'config', name);
const apiEnv = () => config('api.env');
const state = (name: string) => join(base, 'state', name);
const put = (path: string, text: string) => {
  mkdirSync(join(base, 'config'), { recursive: true, mode: 0o700 });
  writeFileSync(path, text, { mode: 0o600 });
};
const text = (path: string) => readFileSync(path, 'utf8');
const fileKey = (name: string) => parseEnvFile(readFileSync(apiEnv())).get(name);
const log = createLog({ level: 'debug', write: (line) => lines.push(line) });

async function start(options: Partial<SettingsOptions> = {}): Promise<Settings> {
  const env = { SVC_HOME: base, ...options.env };
  const settings = await openSettings({ log, watch: false, ...options, env });
  open.push(settings);
  return settings;
}

describe('reading', () => {
  test('a fresh install: everything at its default, nothing is a problem, no file is made', async () => {
    const settings = await start();
    expect(settings.resolve('requireAuth')).toEqual({
      value: false,
      source: 'default',
      persisted: undefined,
    });
    expect([settings.value('port'), settings.value('adminKey'), settings.problems()]).toEqual([8080, '', []]);
    expect(readdirSync(settings.folders.config)).toEqual([]);
    expect((statSync(settings.folders.config).mode & 0o777).toString(8)).toBe('700');
  });

  test('a folder that can not be used stops the start with advice', async () => {
    writeFileSync(join(base, 'state'), '');
    await expect(start()).rejects.toThrow(SetupError);
  });

  test('api.env is read at the start and on reload, and replaces what was inherited', async () => {
    put(apiEnv(), 'SVC_ADMIN_KEY=from-file\n');
    const settings = await start({ env: { SVC_ADMIN_KEY: 'inherited', SVC_CLIENT_KEY: 'inherited-client' } });
    expect([settings.value('adminKey'), settings.value('clientKey')]).toEqual([
      'from-file',
      'inherited-client',
    ]);
    writeFileSync(apiEnv(), 'SVC_ADMIN_KEY=edited\n');
    expect(settings.value('adminKey')).toBe('from-file');
    await settings.reload();
    expect([settings.value('adminKey'), process.env.SVC_ADMIN_KEY]).toEqual(['edited', undefined]);
  });

  test('a removed line means unset, although systemd had handed the same value over', async () => {
    put(apiEnv(), 'SVC_ADMIN_KEY=one\nSVC_CLIENT_KEY=two\n');
    const env = { SVC_ADMIN_KEY: 'one', SVC_CLIENT_KEY: 'two' };
    const settings = await start({ env });
    writeFileSync(apiEnv(), 'SVC_CLIENT_KEY=two\n');
    await settings.reload();
    expect([settings.value('adminKey'), settings.value('clientKey')]).toEqual(['', 'two']);
    unlinkSync(apiEnv());
    await settings.reload();
    expect([settings.value('clientKey'), settings.environment('SVC_CLIENT_KEY')]).toEqual(['', undefined]);
    expect((await start({ env: { SVC_CLIENT_KEY: 'own' } })).value('clientKey')).toBe('own');
  });

  test('what is wrong is named with file and line, logged once, and gone once corrected', async () => {
    put(config(), '[security]\nrequire_auth = true\nnonsense = 1\n');
    put(apiEnv(), '# c\nSVC_LOGIN_RATELIMIT_MAX=lots\nSVC_WHAT=1\n');
    const settings = await start({ env: { SVC_PORT: 'x' } });
    expect(settings.problems()).toEqual([
      { file: 'api.env', line: 3, message: 'unknown setting SVC_WHAT' },
      {
        file: 'environment',
        line: null,
        message: expect.stringMatching(/^SVC_PORT must be .*the default is used$/),
      },
      { file: 'api.env', line: 2, message: expect.stringMatching(/^SVC_LOGIN_RATELIMIT_MAX must be/) },
      { file: 'config.toml', line: 3, message: 'unknown key "security.nonsense"' },
    ]);
    await settings.reload();
    expect(lines.filter((line) => line.includes('config.toml:3'))).toHaveLength(1);
    put(config(), '[security]\nrequire_auth = true\n');
    writeFileSync(apiEnv(), '');
    await settings.reload();
    expect(settings.problems().map(({ file }) => file)).toEqual(['environment']);
  });

  test('views show sources, never a secret', async () => {
    put(config(), '[security]\nrequire_auth = false\n[server]\nport = "x"\n');
    put(apiEnv(), 'SVC_ADMIN_KEY=super-secret-1\nSVC_REQUIRE_AUTH=on\n');
    const views = (await start()).views();
    const view = (name: string) => views.find((one) => one.name === name);
    expect(view('adminKey')).toMatchObject({
      value: null,
      default: null,
      secret: true,
      set: true,
      source: 'env',
    });
    expect(view('clientKey')).toMatchObject({ value: null, secret: true, set: false });
    expect(view('requireAuth')).toMatchObject({ value: true, source: 'env', persisted: false });
    expect(view('port')).toMatchObject({ value: 8080, problem: expect.stringContaining('server.port') });
    expect(view('model')).toMatchObject({ value: null, default: null });
    expect(JSON.stringify(views)).not.toContain('super-secret-1');
  });

  test('secrets are listed for the log: both environments, other services too, and rotated ones', async () => {
    put(apiEnv(), 'SVC_ADMIN_KEY=old-admin-key\nHF_TOKEN="hub token "\nSVC_MODEL=/m\n');
    const settings = await start({
      env: { SVC_ADMIN_KEY: 'inherited-key', UPSTREAM_API_KEY: 'up-key', HOME: '/h' },
    });
    await settings.setEnvFile('adminKey', 'new-admin-key');
    expect([...settings.secrets()].sort()).toEqual(
      ['hub token', 'hub token ', 'inherited-key', 'new-admin-key', 'old-admin-key', 'up-key'].sort(),
    );
    expect(settings.environment('HF_TOKEN')).toBe('hub token ');
    expect(lines.join('')).not.toMatch(/admin-key|hub token|up-key|inherited-key/);
  });
});

describe('the last good configuration', () => {
  const good = '[security]\nrequire_auth = true\n[server]\nport = 9000\n';
  const broken = ['[security\n', '', '\0\0\0', `# ${'x'.repeat(1 << 20)}\n`, good.slice(0, -8)];

  test.each(broken)('stays on reload and at a cold start with %#', async (bad) => {
    put(config(), good);
    const settings = await start();
    const changes: string[] = [];
    settings.onChange((change) => changes.push(change));
    writeFileSync(config(), bad);
    await settings.reload();
    expect([settings.value('requireAuth'), settings.value('port'), changes]).toEqual([
      true,
      9000,
      ['broken'],
    ]);
    expect(settings.problems()[0]).toMatchObject({ file: 'config.toml' });
    const cold = await start();
    expect([cold.value('requireAuth'), cold.value('port')]).toEqual([true, 9000]);
    rmSync(state('last-good.json'));
    const bare = await start();
    expect(bare.resolve('requireAuth')).toMatchObject({ value: true, source: 'file' });
    expect(bare.value('port')).toBe(8080);
    writeFileSync(config(), good.replace('true', 'false'));
    await settings.reload();
    expect([settings.value('requireAuth'), changes]).toEqual([false, ['broken', 'reloaded']]);
  });

  test('enforcement that was off stays off when the file breaks', async () => {
    put(config(), '[server]\nport = 9000\n');
    await start();
    writeFileSync(config(), '[');
    expect((await start()).value('requireAuth')).toBe(false);
  });

  test('a damaged memory counts as on, a missing one as off', async () => {
    put(config(), '[');
    expect((await start()).value('requireAuth')).toBe(false);
    for (const text of ['', '{', 'null', '[]', '"on"', '{"config":"no"}', '{}']) {
      writeFileSync(state('enforcement.json'), text);
      expect((await start()).value('requireAuth')).toBe(true);
      rmSync(state('enforcement.json'));
    }
    writeFileSync(state('enforcement.json'), '{"config":false,"api_env":false}');
    writeFileSync(state('last-good.json'), '{"security.require_auth":"x","server.port":1,"gone.key":2}');
    expect((await start()).value('port')).toBe(1);
  });

  test('a wrong value at a cold start: its last good one', async () => {
    put(config(), good);
    await start();
    writeFileSync(config(), '[security]\nrequire_auth = "off"\n[server]\nport = -1\n');
    const settings = await start();
    expect([settings.value('requireAuth'), settings.value('port')]).toEqual([true, 9000]);
    expect(settings.problems().map(({ line }) => line)).toEqual([2, 4]);
  });

  test('api.env that can not be read: what it said stays, and at a cold start on stays on', async () => {
    put(apiEnv(), 'SVC_REQUIRE_AUTH=on\nSVC_ADMIN_KEY=abc\n');
    const settings = await start();
    rmSync(apiEnv());
    mkdirSync(apiEnv());
    await settings.reload();
    expect([settings.value('requireAuth'), settings.value('adminKey')]).toEqual([true, 'abc']);
    const cold = await start();
    expect([cold.value('requireAuth'), cold.value('adminKey')]).toEqual([true, '']);
    const inherited = await start({ env: { SVC_REQUIRE_AUTH: 'off' } });
    expect(inherited.value('requireAuth')).toBe(false);
  });

  test('a state folder that can not take the memory is a problem, not a failure', async () => {
    const settings = await start();
    rmSync(state('enforcement.json'));
    mkdirSync(state('enforcement.json'));
    await settings.persist('requireAuth', true);
    expect(settings.value('requireAuth')).toBe(true);
    expect(settings.problems()).toEqual([expect.objectContaining({ file: 'last-good.json' })]);
  });
});

describe('persist', () => {
  test('writes one key, keeps the rest, is live at once and at the next start', async () => {
    put(config(), '# mine\r\n[security]\r\nrequire_auth = false # why\r\n');
    chmodSync(config(), 0o640);
    const settings = await start();
    const changes: string[] = [];
    settings.onChange((change) => changes.push(change));
    await settings.persist('requireAuth', true);
    expect(text(config())).toBe('# mine\r\n[security]\r\nrequire_auth = true # why\r\n');
    expect((statSync(config()).mode & 0o777).toString(8)).toBe('640');
    expect([settings.value('requireAuth'), changes]).toEqual([true, ['written']]);
    await settings.persist('allowedHosts', ['a.example.org', 'b']);
    await settings.persist('loginRatelimitWindowS', 0.5);
    const again = await start();
    expect([
      again.value('requireAuth'),
      again.value('allowedHosts'),
      again.value('loginRatelimitWindowS'),
    ]).toEqual([true, ['a.example.org', 'b'], 0.5]);
  });

  test('creates the file for the owner only', async () => {
    const settings = await start();
    await settings.persist('port', 9000);
    expect([text(config()), (statSync(config()).mode & 0o777).toString(8)]).toEqual([
      '[server]\nport = 9000\n',
      '600',
    ]);
  });

  test('a variable still wins afterwards', async () => {
    const settings = await start({ env: { SVC_REQUIRE_AUTH: 'off' } });
    await settings.persist('requireAuth', true);
    expect(settings.resolve('requireAuth')).toMatchObject({ value: false, source: 'env', persisted: true });
  });

  test('enforcement that stays on after the file was lost can be turned off by writing it', async () => {
    put(config(), '[security]\nrequire_auth = true\n');
    await start();
    rmSync(config());
    const settings = await start();
    expect(settings.value('requireAuth')).toBe(true);
    await settings.persist('requireAuth', false);
    expect([settings.value('requireAuth'), settings.problems()]).toEqual([false, []]);
    expect((await start()).value('requireAuth')).toBe(false);
  });

  test('wrong values, settings without a key and files that must be corrected first are refused', async () => {
    put(config(), '[server\n');
    const settings = await start();
    await expect(settings.persist('port', 70_000)).rejects.toThrow(RangeError);
    await expect(settings.persist('adminKey', 'x')).rejects.toThrow(RangeError);
    await expect(settings.persist('port', 9000)).rejects.toThrow(ConfigEditError);
    await expect(settings.persist('requireAuth', true)).rejects.toThrow(/line 1.*correct it first/);
    expect([text(config()), settings.value('requireAuth')]).toEqual(['[server\n', false]);
    expect(text(state('enforcement.json'))).toContain('"config":false');
  });

  test('on is remembered before the file is written: a kill in between never forgets it', async () => {
    let seen = '';
    const settings = await start({ faults: () => (seen ||= text(state('enforcement.json'))) });
    await settings.persist('requireAuth', true);
    expect(JSON.parse(seen)).toMatchObject({ config: true });
  });

  test('many at once are all in the file', async () => {
    const settings = await start();
    await Promise.all([
      settings.persist('port', 1),
      settings.persist('requireAuth', true),
      settings.persist('queueMax', 2),
      settings.setEnvFile('adminKey', 'abc'),
      settings.reload(),
      settings.persist('port', 3),
    ]);
    expect([settings.value('port'), settings.value('requireAuth'), settings.value('queueMax')]).toEqual([
      3,
      true,
      2,
    ]);
    expect((await start()).value('port')).toBe(3);
  });
});

describe('setEnvFile', () => {
  test('creates api.env 0600, live at once, and at the next start whatever was inherited', async () => {
    const settings = await start({ env: { SVC_ADMIN_KEY: 'inherited' } });
    await settings.setEnvFile('adminKey', 'new-key');
    expect([text(apiEnv()), (statSync(apiEnv()).mode & 0o777).toString(8)]).toEqual([
      'SVC_ADMIN_KEY=new-key\n',
      '600',
    ]);
    expect([settings.value('adminKey'), process.env.SVC_ADMIN_KEY]).toEqual(['new-key', undefined]);
    expect((await start({ env: { SVC_ADMIN_KEY: 'inherited' } })).value('adminKey')).toBe('new-key');
  });

  test('all other bytes stay', async () => {
    const before = '\ufeff# keys\r\n\r\nexport X=1\r\nSVC_CLIENT_KEY="old"\r\nFOO=a\\\nb';
    put(apiEnv(), before);
    await (await start()).setEnvFile('clientKey', 'new');
    expect(text(apiEnv())).toBe(before.replace('old', 'new'));
  });

  test('sixteen at once: the file is what is live, and no update is lost', async () => {
    put(apiEnv(), '# head\nSVC_ADMIN_KEY=start\n# tail\n');
    const settings = await start();
    const names = ['adminKey', 'clientKey'] as const;
    await Promise.all(
      Array.from({ length: 16 }, (_, i) => settings.setEnvFile(names[i % 2] as 'adminKey', `key-${i}`)),
    );
    expect([settings.value('adminKey'), settings.value('clientKey')]).toEqual(['key-14', 'key-15']);
    expect(text(apiEnv())).toBe('# head\nSVC_ADMIN_KEY=key-14\n# tail\nSVC_CLIENT_KEY=key-15\n');
    expect(readdirSync(settings.folders.config)).toEqual(['api.env']);
  });

  test.each(['open', 'write', 'fsync', 'rename'] as const)(
    'a failure at %s changes nothing, then it works again',
    async (step) => {
      put(apiEnv(), 'SVC_ADMIN_KEY=old\n');
      let failing = true;
      const faults = (at: FaultStep) => {
        if (failing && at === step) throw Object.assign(new Error('disk'), { code: 'ENOSPC' });
      };
      const settings = await start({ faults });
      await expect(settings.setEnvFile('adminKey', 'new')).rejects.toMatchObject({
        reason: 'io',
        code: 'ENOSPC',
      });
      expect([
        settings.value('adminKey'),
        fileKey('SVC_ADMIN_KEY'),
        readdirSync(settings.folders.config),
      ]).toEqual(['old', 'old', ['api.env']]);
      failing = false;
      await settings.setEnvFile('adminKey', 'new');
      expect([settings.value('adminKey'), fileKey('SVC_ADMIN_KEY')]).toEqual(['new', 'new']);
    },
  );

  test('a failure of the last flush: the new key is in the file, so it is live', async () => {
    const settings = await start({
      faults: (at) => {
        if (at === 'fsyncdir') throw new Error('disk');
      },
    });
    await settings.setEnvFile('adminKey', 'new');
    expect([settings.value('adminKey'), fileKey('SVC_ADMIN_KEY')]).toEqual(['new', 'new']);
    expect(lines.join('')).toContain('could not be flushed');
  });

  test.each(['fsync', 'rename'] as const)(
    'an edit by hand at %s is kept: read again and retried once',
    async (step) => {
      put(apiEnv(), 'SVC_ADMIN_KEY=old\n');
      let edits = 0;
      const faults = (at: FaultStep) => {
        if (at === step && edits++ === 0)
          writeFileSync(apiEnv(), '# by hand\nSVC_ADMIN_KEY=old\nSVC_PORT=9000\n');
      };
      const settings = await start({ faults });
      await settings.setEnvFile('adminKey', 'new');
      expect(text(apiEnv())).toBe('# by hand\nSVC_ADMIN_KEY=new\nSVC_PORT=9000\n');
      expect([settings.value('adminKey'), settings.value('port')]).toEqual(['new', 9000]);
    },
  );

  test('edits by hand that go on end it, and the last of them stays', async () => {
    put(apiEnv(), 'SVC_ADMIN_KEY=old\n');
    let edits = 0;
    const settings = await start({
      faults: (at) => {
        if (at === 'rename') writeFileSync(apiEnv(), `SVC_ADMIN_KEY=hand${++edits}\n`);
      },
    });
    await expect(settings.setEnvFile('adminKey', 'new')).rejects.toMatchObject({ reason: 'changed' });
    expect([text(apiEnv()), settings.value('adminKey')]).toEqual(['SVC_ADMIN_KEY=hand2\n', 'old']);
    expect(readdirSync(settings.folders.config)).toEqual(['api.env']);
  });

  test('a link within the folder is written through; one that leaves it is refused', async () => {
    put(config('keys.real'), 'SVC_ADMIN_KEY=old\n');
    symlinkSync('keys.real', apiEnv());
    const settings = await start();
    await settings.setEnvFile('adminKey', 'new');
    expect(text(config('keys.real'))).toBe('SVC_ADMIN_KEY=new\n');
    unlinkSync(apiEnv());
    writeFileSync(join(base, 'elsewhere'), 'SVC_ADMIN_KEY=theirs\n');
    symlinkSync('../elsewhere', apiEnv());
    await settings.reload();
    expect(settings.value('adminKey')).toBe('theirs');
    await expect(settings.setEnvFile('adminKey', 'new')).rejects.toMatchObject({ reason: 'symlink' });
    expect([settings.value('adminKey'), text(join(base, 'elsewhere'))]).toEqual([
      'theirs',
      'SVC_ADMIN_KEY=theirs\n',
    ]);
  });

  test.runIf(process.getuid?.() === 0)(
    'a file of another user is a problem and is not replaced',
    async () => {
      put(apiEnv(), 'SVC_ADMIN_KEY=old\n');
      chownSync(apiEnv(), 12345, 12345);
      const settings = await start();
      expect(settings.problems()).toEqual([
        expect.objectContaining({ message: expect.stringContaining('chown 0') }),
      ]);
      await expect(settings.setEnvFile('adminKey', 'new')).rejects.toMatchObject({ reason: 'owner' });
    },
  );

  test('a mode that is too open is named, and closed with the next rotation', async () => {
    put(apiEnv(), 'SVC_ADMIN_KEY=old\n');
    chmodSync(apiEnv(), 0o644);
    const settings = await start();
    expect(settings.problems()).toEqual([
      expect.objectContaining({ message: expect.stringContaining('chmod 600') }),
    ]);
    await settings.setEnvFile('adminKey', 'new');
    expect([(statSync(apiEnv()).mode & 0o777).toString(8), settings.problems()]).toEqual(['600', []]);
  });

  test.each(['', '  ', 'ä', 'a\nb', 'a\0'])('the key %j is refused', async (key) => {
    const settings = await start();
    await expect(settings.setEnvFile('adminKey', key)).rejects.toThrow(RangeError);
    expect(readdirSync(settings.folders.config)).toEqual([]);
  });

  test('errors name the file without its path', async () => {
    const settings = await start();
    mkdirSync(apiEnv());
    const error = await settings.setEnvFile('adminKey', 'x').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FileWriteError);
    expect((error as Error).message).not.toContain(base);
  });
});

describe('following the files', () => {
  const until = (settings: Settings) =>
    new Promise<string>((resolve) => {
      const off = settings.onChange((change) => {
        off();
        resolve(change);
      });
    });

  test('writing in place, replacing, removing and creating are all noticed', async () => {
    const settings = await start({ watch: true });
    let change = until(settings);
    put(apiEnv(), 'SVC_ADMIN_KEY=one\n');
    expect([await change, settings.value('adminKey')]).toEqual(['reloaded', 'one']);
    change = until(settings);
    put(config(), '[security]\nrequire_auth = true\n');
    expect([await change, settings.value('requireAuth')]).toEqual(['reloaded', true]);
    change = until(settings);
    put(config('new'), '[server]\nport = 5\n');
    renameSync(config('new'), config());
    expect([await change, settings.value('port'), settings.value('requireAuth')]).toEqual([
      'reloaded',
      5,
      false,
    ]);
    change = until(settings);
    writeFileSync(config(), '[');
    expect([await change, settings.value('port')]).toEqual(['broken', 5]);
    change = until(settings);
    unlinkSync(apiEnv());
    expect([await change, settings.value('adminKey')]).toEqual(['broken', '']);
  });

  test('a change behind a link is noticed too', async () => {
    mkdirSync(join(base, 'config', 'real'), { recursive: true });
    writeFileSync(config('real/x'), 'SVC_PORT=1\n', { mode: 0o600 });
    symlinkSync('real/x', apiEnv());
    const settings = await start({ watch: true });
    const change = until(settings);
    writeFileSync(config('real/x'), 'SVC_PORT=2222\n');
    expect([await change, settings.value('port')]).toEqual(['reloaded', 2222]);
  });

  test('our own writes are one change, not two; a failing listener does not stop the others', async () => {
    const settings = await start({ watch: true });
    const changes: string[] = [];
    settings.onChange(() => {
      throw new Error('listener');
    });
    settings.onChange((change) => changes.push(change));
    await settings.persist('port', 9000);
    const change = until(settings);
    put(apiEnv(), 'SVC_ADMIN_KEY=later\n');
    await change;
    expect(changes).toEqual(['written', 'reloaded']);
    expect(lines.join('')).toContain('a listener of the settings failed');
  });
});

test('temporary files of an interrupted write are swept at the start', async () => {
  put(apiEnv(), 'SVC_ADMIN_KEY=old\n');
  put(config('.api.env.4194999.0123456789abcdef.tmp'), 'SVC_ADMIN_KEY=half');
  mkdirSync(config('real'));
  writeFileSync(config('real/c'), '');
  writeFileSync(config('real/.c.4194999.0123456789abcdef.tmp'), '');
  symlinkSync('real/c', config());
  await start();
  expect([readdirSync(join(base, 'config')).sort(), readdirSync(config('real'))]).toEqual([
    ['api.env', 'config.toml', 'real'],
    ['c'],
  ]);
});
