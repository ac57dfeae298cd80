import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FileWriteError } from '../lib/fs/atomic-file.ts';
import type { FaultStep } from '../lib/fs/temp-file.ts';
import { ConfigEditError } from './config-file.ts';
import { MAX_CONFIG_BYTES } from './config-text.ts';
import { ifMatchGuard, unguarded } from './revision.ts';

import { SettingsBench } from './testing/settings-bench.ts';

const bench = new SettingsBench();
const { config, apiEnv, state, put, text, fileKey, start } = bench;

describe('persist', () => {
  test('writes one key, preserves the rest, and takes effect at once and at the next start', async () => {
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
    const reopened = await start();
    expect([
      reopened.value('requireAuth'),
      reopened.value('allowedHosts'),
      reopened.value('loginRatelimitWindowS'),
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

  test('a variable still takes precedence', async () => {
    const settings = await start({ env: { SVC_REQUIRE_AUTH: 'off' } });
    await settings.persist('requireAuth', true);
    expect(settings.resolve('requireAuth')).toMatchObject({ value: false, source: 'env', persisted: true });
  });

  test('enforcement that stays on after the loss of the file can be turned off by writing it', async () => {
    put(config(), '[security]\nrequire_auth = true\n');
    await start();
    rmSync(config());
    const settings = await start();
    expect(settings.value('requireAuth')).toBe(true);
    await settings.persist('requireAuth', false);
    expect([settings.value('requireAuth'), settings.problems()]).toEqual([false, []]);
    expect((await start()).value('requireAuth')).toBe(false);
  });

  test('writing another setting does not turn off enforcement after the loss of the file', async () => {
    put(config(), '[security]\nrequire_auth = true\n[server]\nport = 9000\n');
    const settings = await start();
    rmSync(config());
    await settings.reload();
    await settings.persist('queueMax', 32);
    expect([settings.value('requireAuth'), settings.value('queueMax'), settings.value('port')]).toEqual([
      true,
      32,
      8080,
    ]);
    expect(text(state('enforcement.json'))).toContain('"config":true');
    expect((await start()).value('requireAuth')).toBe(true);
  });

  test('nor before the loss has been noticed', async () => {
    put(config(), '[security]\nrequire_auth = true\n');
    const settings = await start();
    rmSync(config());
    await settings.persist('queueMax', 32);
    expect([settings.value('requireAuth'), settings.value('queueMax')]).toEqual([true, 32]);
  });

  test.each([
    [
      ['queueMax', 32],
      [true, 9000, 32],
    ],
    [
      ['requireAuth', false],
      [false, 9000, 64],
    ],
  ] as const)('fills an emptied file with the values in force: %j', async ([name, value], expected) => {
    put(config(), '[security]\nrequire_auth = true\n[server]\nport = 9000\n');
    const settings = await start();
    put(config(), '\n');
    await settings.persist(name, value);
    const reopened = await start();
    for (const each of [settings, reopened]) {
      expect([each.value('requireAuth'), each.value('port'), each.value('queueMax')]).toEqual(expected);
      expect(each.problems()).toEqual([]);
    }
  });

  test('a guard sees the content that is replaced, and its refusal changes nothing', async () => {
    const settings = await start();
    const absent = settings.revision();
    await settings.persistAll([['queueMax', 32]], ifMatchGuard(`"${absent}"`));
    expect(settings.revision()).not.toBe(absent);
    const before = text(config());
    const stale = settings.persistAll([['queueMax', 33]], ifMatchGuard(`"${absent}"`));
    await expect(stale).rejects.toMatchObject({ code: 'config.stale' });
    expect([text(config()), settings.value('queueMax')]).toEqual([before, 32]);
    await settings.persistAll([['queueMax', 34]], ifMatchGuard(`"${settings.revision()}"`));
    expect(settings.value('queueMax')).toBe(34);
  });

  test('whole tables and the other keys of a table are written entry by entry', async () => {
    put(config(), '[aliases]\nold = "agent"\n\n[fallbacks]\nenabled = true # mine\nbig = ["small"]\n');
    const settings = await start();
    await settings.persistAll(
      [
        ['aliases', { 'gpt-4o': 'agent' }],
        ['fallbacks', { big: ['small', 'local'] }],
      ],
      unguarded,
    );
    expect(settings.value('aliases')).toEqual({ 'gpt-4o': 'agent' });
    expect(settings.value('fallbacks')).toEqual({ big: ['small', 'local'] });
    expect(text(config())).toContain('enabled = true # mine\n');
    expect((await start()).value('fallbacks')).toEqual({ big: ['small', 'local'] });
  });

  test('a file that is not text must be corrected first, and the reason has its line', async () => {
    put(config(), '');
    writeFileSync(config(), Buffer.from([0x61, 0x0a, 0xff]));
    const settings = await start();
    await expect(settings.persist('port', 9000)).rejects.toThrow(
      'config.toml is not UTF-8 text (line 2); correct it first',
    );
    writeFileSync(config(), Buffer.alloc(MAX_CONFIG_BYTES + 1, '#'));
    await expect(settings.persist('port', 9000)).rejects.toThrow(/config\.toml/);
    expect(statSync(config()).size).toBe(MAX_CONFIG_BYTES + 1);
  });

  test('adds nothing else to a file that never existed', async () => {
    const settings = await start();
    put(config(), '');
    await settings.persist('queueMax', 32);
    expect(text(config())).toBe('[slots]\nqueue_max = 32\n');
  });

  test('refuses invalid values, settings without a key and files that must be corrected first', async () => {
    put(config(), '[server\n');
    const settings = await start();
    await expect(settings.persist('port', 70_000)).rejects.toThrow(RangeError);
    await expect(settings.persist('adminKey', 'x')).rejects.toThrow(RangeError);
    await expect(settings.persist('port', 9000)).rejects.toThrow(ConfigEditError);
    await expect(settings.persist('requireAuth', true)).rejects.toThrow(/line 1.*correct it first/);
    expect([text(config()), settings.value('requireAuth')]).toEqual(['[server\n', false]);
    expect(text(state('enforcement.json'))).toContain('"config":false');
  });

  test('stores enforcement before the file is written, so that a kill in between does not lose it', async () => {
    let stored = '';
    const settings = await start({ faults: () => (stored ||= text(state('enforcement.json'))) });
    await settings.persist('requireAuth', true);
    expect(JSON.parse(stored)).toMatchObject({ config: true });
  });

  test('many concurrent writes are all in the file', async () => {
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

describe('setSecret', () => {
  test('writes the key of an upstream, effective at once', async () => {
    const settings = await start();
    await settings.setSecret('UPSTREAM_DESK', 'sk-1 2');
    expect([fileKey('UPSTREAM_DESK'), settings.environment('UPSTREAM_DESK')]).toEqual(['sk-1 2', 'sk-1 2']);
    expect(settings.secrets()).toContain('sk-1 2');
  });

  test.each([
    ['SVC_ADMIN_KEY', 'x'],
    ['LD_PRELOAD', '/tmp/x.so'],
    ['UPSTREAM_A=B', 'x'],
    ['HF_TOKEN', ''],
    ['HF_TOKEN', ' x'],
    ['HF_TOKEN', 'x\nSVC_ADMIN_KEY=y'],
    ['HF_TOKEN', 'ü'],
  ])('refuses %j = %j and writes nothing', async (name, value) => {
    const settings = await start();
    await expect(settings.setSecret(name, value)).rejects.toThrow(RangeError);
    expect(readdirSync(join(bench.base, 'config'))).toEqual([]);
  });
});

describe('setEnvFile', () => {
  test('creates api.env with mode 0600, effective at once, and at the next start regardless of inherited values', async () => {
    const settings = await start({ env: { SVC_ADMIN_KEY: 'inherited' } });
    await settings.setEnvFile('adminKey', 'new-key');
    expect([text(apiEnv()), (statSync(apiEnv()).mode & 0o777).toString(8)]).toEqual([
      'SVC_ADMIN_KEY=new-key\n',
      '600',
    ]);
    expect([settings.value('adminKey'), process.env.SVC_ADMIN_KEY]).toEqual(['new-key', undefined]);
    expect((await start({ env: { SVC_ADMIN_KEY: 'inherited' } })).value('adminKey')).toBe('new-key');
  });

  test('preserves all other bytes', async () => {
    const before = '\ufeff# keys\r\n\r\nexport X=1\r\nSVC_CLIENT_KEY="old"\r\nFOO=a\\\nb';
    put(apiEnv(), before);
    await (await start()).setEnvFile('clientKey', 'new');
    expect(text(apiEnv())).toBe(before.replace('old', 'new'));
  });

  test('sixteen concurrent writes: the file matches the active state, and no update is lost', async () => {
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
    'a failure at %s changes nothing, and a retry works',
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

  test('a failure of the last flush: the new key is in the file and in force', async () => {
    const settings = await start({
      faults: (at) => {
        if (at === 'fsyncdir') throw new Error('disk');
      },
    });
    await settings.setEnvFile('adminKey', 'new');
    expect([settings.value('adminKey'), fileKey('SVC_ADMIN_KEY')]).toEqual(['new', 'new']);
    expect(bench.lines.join('')).toContain('could not be flushed');
  });

  test.each(['fsync', 'rename'] as const)(
    'a manual edit at %s is preserved: reads again and retries once',
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

  test('repeated manual edits end it, and the last of them stays', async () => {
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

  test('follows a link within the folder, and refuses one that leaves it', async () => {
    put(config('keys.real'), 'SVC_ADMIN_KEY=old\n');
    symlinkSync('keys.real', apiEnv());
    const settings = await start();
    await settings.setEnvFile('adminKey', 'new');
    expect(text(config('keys.real'))).toBe('SVC_ADMIN_KEY=new\n');
    unlinkSync(apiEnv());
    writeFileSync(join(bench.base, 'elsewhere'), 'SVC_ADMIN_KEY=theirs\n');
    symlinkSync('../elsewhere', apiEnv());
    await settings.reload();
    expect(settings.value('adminKey')).toBe('theirs');
    await expect(settings.setEnvFile('adminKey', 'new')).rejects.toMatchObject({ reason: 'symlink' });
    expect([settings.value('adminKey'), text(join(bench.base, 'elsewhere'))]).toEqual([
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

  test('reports a mode that is too open, and narrows it with the next rotation', async () => {
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

  test('errors contain the file name without its path', async () => {
    const settings = await start();
    mkdirSync(apiEnv());
    const error = await settings.setEnvFile('adminKey', 'x').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FileWriteError);
    expect((error as Error).message).not.toContain(bench.base);
  });
});
