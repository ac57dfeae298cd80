/**
 * R06 of the catalogue: the process that rotates a key gets SIGKILL before each step of the write, and the whole daemon at a
 * random moment of sixteen rotations. The file must be completely old or new, and a new daemon must accept its key.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseEnvFile } from '../../../daemon/settings/env-file.ts';
import { tierOf } from '../../../daemon/test/harness/auth-gateways.ts';
import {
  ADMIN_KEY,
  CLIENT_KEY,
  QUIET_FILE,
  startGateway,
  until,
  WIDE_LIMIT,
} from '../../../daemon/test/harness/gateway.ts';
import { newHome } from '../../../daemon/test/harness/home.ts';
import { login, send } from '../../../daemon/test/harness/http.ts';
import { scale } from '../../../daemon/test/harness/scale.ts';

const root = join(import.meta.dirname, '..', '..', '..');

/** A file that is larger than one write. */
const long = (key: string) =>
  `# before\n${'# filler that stays as it is\n'.repeat(4_000)}SVC_ADMIN_KEY=${key}\nSVC_CLIENT_KEY=${CLIENT_KEY}\n# after\n`;

let home: string;
const envFile = () => join(home, 'config', 'api.env');
const read = () => readFileSync(envFile(), 'utf8');
const keyOf = (text: string) => parseEnvFile(Buffer.from(text)).get('SVC_ADMIN_KEY') ?? '';
const temps = () => readdirSync(join(home, 'config')).filter((name) => name.endsWith('.tmp'));

beforeEach(() => {
  home = newHome();
  mkdirSync(join(home, 'config'), { mode: 0o700 });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const start = () =>
  startGateway({
    home,
    files: { ...QUIET_FILE, 'config/config.toml': WIDE_LIMIT },
    env: { SVC_REQUIRE_AUTH: 'on' },
  });

describe('R06 killed during a rotation', () => {
  it.each([
    ['open', 'old'],
    ['write', 'old'],
    ['fsync', 'old'],
    ['rename', 'old'],
    ['fsyncdir', 'new'],
  ])('right before %s: the file is completely %s, and a restarted daemon uses it', async (step, which) => {
    writeFileSync(envFile(), long(ADMIN_KEY), { mode: 0o600 });
    const program = join(root, 'daemon', 'test', 'harness', 'kill-during-settings-write.ts');
    const { signal } = spawnSync(process.execPath, [program, home, step]);
    expect(signal).toBe('SIGKILL');
    const key = keyOf(read());
    expect(read()).toBe(long(key));
    expect(key === ADMIN_KEY ? 'old' : 'new').toBe(which);
    const gateway = await start();
    expect(await tierOf(gateway, { key })).toBe('admin');
    if (which === 'new') expect(await tierOf(gateway, { key: ADMIN_KEY })).toBe('anon');
    expect(temps()).toEqual([]);
    await gateway.stop();
  });

  it('the whole daemon, at a random moment of sixteen concurrent rotations', async () => {
    let key = ADMIN_KEY;
    writeFileSync(envFile(), long(key), { mode: 0o600 });
    for (let round = 0; round < scale(100); round++) {
      const gateway = await start();
      expect(await tierOf(gateway, { key })).toBe('admin');
      const cookie = await login(gateway, key);
      const body = { tier: 'admin' };
      const rotations = Array.from({ length: 16 }, () =>
        send(gateway, 'POST', '/api/auth/rotate', { cookie, body }).catch(() => null),
      );
      const before = read();
      await until(() => read() !== before, 'the first rotation');
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      await gateway.stop('SIGKILL');
      await Promise.all(rotations);
      key = keyOf(read());
      expect(read()).toBe(long(key));
    }
    const last = await start();
    expect(await tierOf(last, { key })).toBe('admin');
    expect(temps()).toEqual([]);
    await last.stop();
  });
});
