/** Group R of the catalogue: for any file, a rotation changes the key alone or nothing. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RotateView } from '../contract/auth.ts';
import { parseEnvFile } from '../settings/env-file.ts';
import { tierOf } from './harness/auth-gateways.ts';
import { descendants } from './harness/descendants.ts';
import { ADMIN_KEY, CLIENT_KEY, startLocked, until, WIDE_LIMIT } from './harness/gateway.ts';
import { type HttpResponse, login, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { scale } from './harness/scale.ts';

let home: string;
const envFile = () => join(home, 'config', 'api.env');
const read = () => readFileSync(envFile(), 'utf8');
const keyOf = (text: string) => parseEnvFile(Buffer.from(text)).get('SVC_ADMIN_KEY') ?? '';
const tempFiles = (folder = join(home, 'config')) =>
  readdirSync(folder).filter((name) => name.endsWith('.tmp'));

/** Whether this host allows immutable files. */
function canMakeImmutable(): boolean {
  const probe = join(mkdtempSync(join(tmpdir(), 'svc-test-')), 'probe');
  writeFileSync(probe, '');
  const set = spawnSync('chattr', ['+i', probe]).status === 0;
  spawnSync('chattr', ['-i', probe]);
  rmSync(join(probe, '..'), { recursive: true });
  return set;
}

describe('one running daemon', () => {
  const gateway = new OneGateway(() => startLocked({ files: { 'config/config.toml': WIDE_LIMIT } }));
  let cookie: string;
  beforeAll(async () => {
    home = gateway.home;
    cookie = await login(gateway, ADMIN_KEY);
  });
  beforeEach(async () => {
    home = gateway.home;
    rmSync(envFile(), { recursive: true, force: true });
    await put(`SVC_ADMIN_KEY=${ADMIN_KEY}\nSVC_CLIENT_KEY=${CLIENT_KEY}\n`);
  });

  /** Writes api.env as an editor does and waits until it is in effect. */
  async function put(text: string | Buffer, mode = 0o600): Promise<void> {
    writeFileSync(`${envFile()}.new`, text, { mode });
    chmodSync(`${envFile()}.new`, mode);
    renameSync(`${envFile()}.new`, envFile());
    const key = parseEnvFile(Buffer.from(text)).get('SVC_ADMIN_KEY');
    if (key)
      await until(async () => (await tierOf(gateway, { key })) === 'admin', 'the new file to be in effect');
  }

  const rotateNow = (tier = 'admin') => send(gateway, 'POST', '/api/auth/rotate', { cookie, body: { tier } });

  /** Expects 500 `auth.rotate_failed` without a path, and the old key in effect. */
  async function expectRefused(response: HttpResponse): Promise<void> {
    expect(response).toMatchObject({ status: 500, code: 'auth.rotate_failed' });
    expect(response.text).not.toContain(home);
    expect(response.text).not.toContain('api.env.');
    expect(await tierOf(gateway, { key: ADMIN_KEY })).toBe('admin');
    expect(tempFiles()).toEqual([]);
  }

  const K = 'SVC_ADMIN_KEY';
  it.each<[string, (key: string) => string | Buffer, after?: (key: string) => string | Buffer]>([
    [
      'comments, blank lines, unknown names',
      (key) => `# a\n; b\n\n  \nOTHER=1\n${K}=${key}\n\nX_Y=z # no comment\n`,
    ],
    ['CRLF', (key) => `A=1\r\n${K}=${key}\r\nB=2\r\n`],
    ['no final newline', (key) => `A=1\n${K}=${key}`],
    ['double quotes', (key) => `${K}="${key}"\nB="two words"\n`],
    ['single quotes and blanks', (key) => `  ${K} = '${key}'  \nB='x'\n`],
    ['continuation lines', (key) => `A=one\\\ntwo\n${K}=${key}\nB=three\\\n  four\n`],
    ['export', (key) => `export ${K}=${key}\nexport A=1\n`],
    ['a byte order mark', (key) => `\ufeff${K}=${key}\nA=1\n`],
    [
      'three assignments: the last one is replaced, the others are removed',
      (key) => `# 1\n${K}=dead\nA=1\n\nexport ${K}="dead # too"\n# 3\n${K}=${key}\nB=2`,
      (key) => `# 1\nA=1\n\n# 3\n${K}=${key}\nB=2`,
    ],
    ['bytes that are no UTF-8', (key) => Buffer.from(`# caf\xe9 \xff\n${K}=${key}\n`, 'latin1')],
    ['a large file', (key) => `${'# a line that stays as it is\n'.repeat(30_000)}${K}=${key}\nZ=1\n`],
  ])('R07 %s: all other bytes are unchanged', async (_, make, after = make) => {
    await put(make(ADMIN_KEY));
    const response = await rotateNow();
    expect(response.status).toBe(200);
    const key = parseEnvFile(readFileSync(envFile())).get(K) ?? '';
    expect(key).toHaveLength(43);
    expect(readFileSync(envFile()).equals(Buffer.from(after(key)))).toBe(true);
    expect(await tierOf(gateway, { key })).toBe('admin');
    expect(await tierOf(gateway, { key: ADMIN_KEY })).toBe('anon');
  });

  describe('R10 a symbolic link', () => {
    const link = (target: string) => {
      rmSync(envFile(), { force: true });
      symlinkSync(target, envFile());
    };

    it('to a file below the configuration folder is followed and remains', async () => {
      mkdirSync(join(home, 'config', 'secrets'), { recursive: true });
      const target = join(home, 'config', 'secrets', 'real.env');
      renameSync(envFile(), target);
      link('secrets/real.env');
      const response = await rotateNow();
      expect(response.status).toBe(200);
      expect(lstatSync(envFile()).isSymbolicLink()).toBe(true);
      expect(await tierOf(gateway, { key: keyOf(readFileSync(target, 'utf8')) })).toBe('admin');
      expect(tempFiles(join(home, 'config', 'secrets'))).toEqual([]);
    });

    it('to a file elsewhere is rejected, and that file is not changed', async () => {
      const target = join(home, 'elsewhere.env');
      writeFileSync(target, read(), { mode: 0o600 });
      link(target);
      await expectRefused(await rotateNow());
      expect(readFileSync(target, 'utf8')).toContain(ADMIN_KEY);
    });

    it.each([
      ['that dangles', 'nothing.env'],
      ['that loops', 'api.env'],
    ])('%s is refused', async (_, target) => {
      link(target);
      const response = await rotateNow();
      expect(response).toMatchObject({ status: 500, code: 'auth.rotate_failed' });
      expect(lstatSync(envFile()).isSymbolicLink()).toBe(true);
      expect(response.text).not.toContain(home);
    });
  });

  describe('R11 a file that can not be replaced', () => {
    it('a folder of that name: the last known key stays', async () => {
      rmSync(envFile());
      mkdirSync(envFile());
      await expectRefused(await rotateNow());
      expect(statSync(envFile()).isDirectory()).toBe(true);
    });

    it.runIf(process.getuid?.() === 0)('a file of another user', async () => {
      chownSync(envFile(), 65_534, 65_534);
      await expectRefused(await rotateNow());
      expect(statSync(envFile()).uid).toBe(65_534);
    });

    it.runIf(canMakeImmutable())('an immutable file', async () => {
      spawnSync('chattr', ['+i', envFile()]);
      const response = await rotateNow();
      spawnSync('chattr', ['-i', envFile()]);
      await expectRefused(response);
      expect(response.json()).toMatchObject({ error: { details: { reason: 'EPERM' } } });
    });

    it('a file that cannot be edited safely', async () => {
      await put(Buffer.from(`${K}=${ADMIN_KEY}\nSVC_CLIENT_KEY=${CLIENT_KEY}\nX="open quote\n`));
      const response = await rotateNow();
      const values = parseEnvFile(readFileSync(envFile()));
      const live = response.status === 200 ? (values.get(K) ?? '') : ADMIN_KEY;
      expect(await tierOf(gateway, { key: live })).toBe('admin');
      expect(values.get('SVC_CLIENT_KEY')).toBe(CLIENT_KEY);
    });

    it('afterwards the next rotation succeeds', async () => {
      expect((await rotateNow()).status).toBe(200);
      expect(await tierOf(gateway, { key: keyOf(read()) })).toBe('admin');
    });
  });

  it.each([0o600, 0o640, 0o660, 0o400])('R13 a file of mode %o is never widened', async (mode) => {
    await put(`${K}=${ADMIN_KEY}\n`, mode);
    expect((await rotateNow()).status).toBe(200);
    expect(statSync(envFile()).mode & 0o777 & ~mode).toBe(0);
    expect(statSync(envFile()).mode & 0o077).toBe(0);
  });

  it('R13 no temporary file is ever readable by others', async () => {
    const modes = new Set<number>();
    const recordMode = (_: string, name: string | null) => {
      if (!name?.endsWith('.tmp')) return;
      try {
        modes.add(statSync(join(home, 'config', name)).mode & 0o777);
      } catch {
        // It was renamed already.
      }
    };
    const watcher = watch(join(home, 'config'), recordMode);
    for (let round = 0; round < scale(1000); round++) expect((await rotateNow()).status).toBe(200);
    watcher.close();
    for (const mode of modes) expect(mode.toString(8)).toBe('600');
  });

  it('R04 both tiers at once: both new values are in the file and in effect', async () => {
    for (let round = 0; round < scale(100); round++) {
      const responses = await Promise.all([rotateNow('admin'), rotateNow('client'), rotateNow('admin')]);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
      const values = parseEnvFile(readFileSync(envFile()));
      expect(await tierOf(gateway, { key: values.get('SVC_ADMIN_KEY') ?? '' })).toBe('admin');
      expect(await tierOf(gateway, { key: values.get('SVC_CLIENT_KEY') ?? '' })).toBe('client');
      const prints = responses.map((response) => response.json<RotateView>().fingerprint);
      expect(new Set(prints).size).toBe(3);
    }
  });

  it('R17 an engine started before or after receives neither key', async () => {
    const load = (name: string) => send(gateway, 'POST', `/api/slots/${name}/restart`, { cookie });
    expect((await load('agent')).status).toBe(200);
    await rotateNow('admin');
    await rotateNow('client');
    const values = [...parseEnvFile(readFileSync(envFile())).values(), ADMIN_KEY, CLIENT_KEY];
    for (const round of ['before', 'after']) {
      if (round === 'after') expect((await load('agent')).status).toBe(200);
      const children = descendants(gateway.pid);
      expect(children.length, round).toBeGreaterThanOrEqual(1);
      for (const { argv, environ } of children) {
        for (const value of values) expect(`${argv}${environ}`.includes(value), round).toBe(false);
      }
    }
  });
});
