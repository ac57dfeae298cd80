import {
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SetupError } from '../lib/setup-error.ts';
import type { Settings } from './settings.ts';

import { SettingsBench } from './testing/settings-bench.ts';

const bench = new SettingsBench();
const { config, apiEnv, state, put, start } = bench;

describe('reading', () => {
  test('a new installation: every setting at its default, no problems, no file created', async () => {
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

  test('an unusable folder stops the start with advice', async () => {
    writeFileSync(join(bench.base, 'state'), '');
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

  test('a removed line means unset, although systemd passed the same value', async () => {
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

  test('a link to an unmounted location removes no line: enforcement and keys stay', async () => {
    const mounted = join(bench.base, 'mounted');
    writeFileSync(mounted, 'SVC_REQUIRE_AUTH=on\nSVC_ADMIN_KEY=one\n', { mode: 0o600 });
    mkdirSync(join(bench.base, 'config'), { mode: 0o700 });
    symlinkSync(mounted, apiEnv());
    const settings = await start();
    rmSync(mounted);
    await settings.reload();
    expect([settings.value('requireAuth'), settings.value('adminKey')]).toEqual([true, 'one']);
    expect(settings.problems()[0]?.message).toMatch(
      /^is a link to a file that does not exist; its previous content/,
    );
    expect((await start()).value('requireAuth')).toBe(true);
    await expect(settings.setEnvFile('adminKey', 'two')).rejects.toMatchObject({ reason: 'io' });
  });

  test('SVC_REQUIRE_AUTH with an invalid byte is on, and the warning contains the accepted words and the line', async () => {
    put(apiEnv(), '');
    writeFileSync(apiEnv(), Buffer.from('# c\nSVC_REQUIRE_AUTH=tru\xe9\n', 'latin1'));
    const settings = await start();
    expect(settings.value('requireAuth')).toBe(true);
    expect(settings.problems()).toEqual([
      {
        file: 'api.env',
        line: 2,
        message: expect.stringMatching(/^SVC_REQUIRE_AUTH .*true.*off; read as on$/),
      },
    ]);
  });

  test('reports an invalid entry of trusted_proxies with file and line', async () => {
    put(config(), '[security]\ntrusted_proxies = ["10.0.0.0/8", "10.0.0.0/33"]\n');
    const settings = await start();
    expect(settings.problems()).toEqual([
      {
        file: 'config.toml',
        line: 2,
        message: expect.stringMatching(/^security.trusted_proxies .*not an address or range/),
      },
    ]);
    expect(settings.value('trustedProxies')).toEqual(['10.0.0.0/8']);
  });

  test('reports an invalid entry of SVC_ALLOWED_ORIGINS by its number; the others count', async () => {
    put(apiEnv(), '# c\nSVC_ALLOWED_ORIGINS=https://a.example, geheim, https://b.example\n');
    const settings = await start();
    expect(settings.resolve('allowedOrigins')).toMatchObject({
      value: ['https://a.example', 'https://b.example'],
      source: 'env',
    });
    expect(settings.problems()).toEqual([
      {
        file: 'api.env',
        line: 2,
        message: expect.stringMatching(/^SVC_ALLOWED_ORIGINS has an entry \(number 2\) .*; it is ignored$/),
      },
    ]);
    await expect(settings.persist('allowedOrigins', ['https://a.example', 'geheim'])).rejects.toThrow(
      /number 2\) that is not an origin like https:\/\/chat\.example\.com$/,
    );
  });

  test.each([
    ['in api.env', 'SVC_ADMIN_KEY=same-key\nSVC_CLIENT_KEY=same-key\n', {}, 'api.env', 2],
    ['quoted in api.env', 'SVC_CLIENT_KEY="same-key"\nSVC_ADMIN_KEY=same-key\n', {}, 'api.env', 1],
    ['with blanks', 'SVC_ADMIN_KEY=" same-key"\nSVC_CLIENT_KEY=same-key\n', {}, 'api.env', 2],
    [
      'in the environment',
      '',
      { SVC_ADMIN_KEY: 'same-key', SVC_CLIENT_KEY: 'same-key' },
      'environment',
      null,
    ],
    ['one in each', 'SVC_ADMIN_KEY=same-key\n', { SVC_CLIENT_KEY: 'same-key' }, 'environment', null],
  ])('equal keys are a problem, without the key: %s', async (_, text, env, file, line) => {
    put(apiEnv(), text);
    const settings = await start({ env });
    const message = expect.stringMatching(
      /^SVC_CLIENT_KEY equals SVC_ADMIN_KEY, .*svcctl auth rotate client$/,
    );
    expect(settings.problems()).toEqual([{ file, line, message }]);
    expect(bench.lines.join('')).not.toContain('same-key');
    await settings.setEnvFile('clientKey', 'another-key');
    expect(settings.problems()).toEqual([]);
  });

  test.each([
    ['none is set', ''],
    ['both are blank', 'SVC_ADMIN_KEY=\nSVC_CLIENT_KEY=" "\n'],
    ['only one is set', 'SVC_CLIENT_KEY=a-key\n'],
    ['they differ in case', 'SVC_ADMIN_KEY=A-key\nSVC_CLIENT_KEY=a-key\n'],
  ])('keys are not equal when %s', async (_, text) => {
    put(apiEnv(), text);
    expect((await start()).problems()).toEqual([]);
  });

  test('reports a problem with file and line, logs it once, and clears it once corrected', async () => {
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
    expect(bench.lines.filter((line) => line.includes('config.toml:3'))).toHaveLength(1);
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

  test('lists secrets for redaction: of both environments, other services, and rotated ones', async () => {
    put(apiEnv(), 'SVC_ADMIN_KEY=old-admin-key\nHF_TOKEN="hub token "\nSVC_MODEL=/m\n');
    const settings = await start({
      env: { SVC_ADMIN_KEY: 'inherited-key', UPSTREAM_API_KEY: 'up-key', HOME: '/h' },
    });
    await settings.setEnvFile('adminKey', 'new-admin-key');
    expect([...settings.secrets()].sort()).toEqual(
      ['hub token', 'hub token ', 'inherited-key', 'new-admin-key', 'old-admin-key', 'up-key'].sort(),
    );
    expect(settings.environment('HF_TOKEN')).toBe('hub token ');
    expect(bench.lines.join('')).not.toMatch(/admin-key|hub token|up-key|inherited-key/);
  });
});

describe('the last good configuration', () => {
  const good = '[security]\nrequire_auth = true\n[server]\nport = 9000\n';
  const broken = ['[security\n', '', '\0\0\0', `# ${'x'.repeat(1 << 20)}\n`, good.slice(0, -8)];

  test.each(broken)('stays in force on reload and at a cold start with %#', async (bad) => {
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

  test('a damaged saved state counts as on, a missing one as off', async () => {
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

  test('an invalid value at a cold start: its last good one', async () => {
    put(config(), good);
    await start();
    writeFileSync(config(), '[security]\nrequire_auth = "off"\n[server]\nport = -1\n');
    const settings = await start();
    expect([settings.value('requireAuth'), settings.value('port')]).toEqual([true, 9000]);
    expect(settings.problems().map(({ line }) => line)).toEqual([2, 4]);
  });

  test('unreadable api.env: its values stay, and at a cold start on stays on', async () => {
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

  test('a state folder that is not writable is a problem, not an error', async () => {
    const settings = await start();
    rmSync(state('enforcement.json'));
    mkdirSync(state('enforcement.json'));
    await settings.persist('requireAuth', true);
    expect(settings.value('requireAuth')).toBe(true);
    expect(settings.problems()).toEqual([expect.objectContaining({ file: 'last-good.json' })]);
  });
});

describe('watching the files', () => {
  const until = (settings: Settings) =>
    new Promise<string>((resolve) => {
      const off = settings.onChange((change) => {
        off();
        resolve(change);
      });
    });

  test('detects writing in place, replacing, removing and creating', async () => {
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

  test('detects a change behind a link', async () => {
    mkdirSync(join(bench.base, 'config', 'real'), { recursive: true });
    writeFileSync(config('real/x'), 'SVC_PORT=1\n', { mode: 0o600 });
    symlinkSync('real/x', apiEnv());
    const settings = await start({ watch: true });
    const change = until(settings);
    writeFileSync(config('real/x'), 'SVC_PORT=2222\n');
    expect([await change, settings.value('port')]).toEqual(['reloaded', 2222]);
  });

  test('own writes are one change, not two; a failing listener does not stop the others', async () => {
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
    expect(bench.lines.join('')).toContain('a listener of the settings failed');
  });
});

test('removes temporary files of an interrupted write at the start', async () => {
  put(apiEnv(), 'SVC_ADMIN_KEY=old\n');
  put(config('.api.env.4194999.0123456789abcdef.tmp'), 'SVC_ADMIN_KEY=half');
  mkdirSync(config('real'));
  writeFileSync(config('real/c'), '');
  writeFileSync(config('real/.c.4194999.0123456789abcdef.tmp'), '');
  symlinkSync('real/c', config());
  await start();
  expect([readdirSync(join(bench.base, 'config')).sort(), readdirSync(config('real'))]).toEqual([
    ['api.env', 'config.toml', 'real'],
    ['c'],
  ]);
});
