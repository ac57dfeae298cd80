/**
 * `svcctl doctor`, `backup` and `restore` (docs/spec/contract.md#command-line) with a real daemon, running
 * and stopped.
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../lib/log.ts';
import { openStore } from '../store/store.ts';
import { ADMIN_KEY, CLIENT_KEY, startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { envFor, svcctl } from './harness/svcctl.ts';
import { startGuarded } from './harness/tiny-gateway.ts';

interface Report {
  status: string;
  failures: number;
  findings: { id: string; status: string; message: string; fix: string | null }[];
}

const SERVICE_USER = 65_534;
const folder = mkdtempSync(join(tmpdir(), 'svc-care-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const gateway = new OneGateway(() =>
  startGuarded({
    env: { SVC_REQUIRE_AUTH: '' },
    files: { 'config/slots/broken.toml': 'engine = "nothing-such"\n' },
  }),
);

const run = (...args: string[]) => svcctl(args, { env: envFor(gateway) });
const file = (name: string) => join(folder, name);

async function addMemory(text: string): Promise<boolean> {
  const response = await fetch(`${gateway.url}/api/memory`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({ text }),
  });
  return response.ok;
}

/** Returns the number of memories in a database. */
function memories(state: string): number {
  const store = openStore({ folder: state, log: silentLog() });
  try {
    return store.memory.list(10_000, 0).length;
  } finally {
    store.close();
  }
}

describe('while the gateway runs', () => {
  it('doctor queries it, names the broken file and shows no key', async () => {
    const ran = await run('doctor', '--json');
    const report = ran.json<Report>();
    const findingsOf = (id: string) => report.findings.filter((one) => one.id === id);
    expect(findingsOf('gateway')[0]).toMatchObject({
      status: 'ok',
      message: expect.stringContaining(gateway.url),
    });
    expect(findingsOf('port')[0]?.status).toBe('ok');
    expect(findingsOf('exposure')[0]?.status).toBe('ok');
    expect(findingsOf('configuration')[0]?.message).toContain('slots/broken.toml');
    expect(ran.code).toBe(report.failures === 0 ? 0 : 1);
    expect(ran.out + ran.err).not.toContain(ADMIN_KEY);
    expect(ran.out + ran.err).not.toContain(CLIENT_KEY);
  });

  it('doctor names a slot that runs without the changes of its file', async () => {
    const admin = { key: ADMIN_KEY };
    await send(gateway, 'POST', '/api/slots/agent/load', { ...admin, idleTimeoutMs: 120_000 });
    await send(gateway, 'PUT', '/api/slots/agent', { ...admin, body: { context: 1_024 } });
    const findings = async () =>
      (await run('doctor', '--json')).json<Report>().findings.filter(({ id }) => id === 'slots');
    expect(await findings()).toMatchObject([
      { status: 'warn', message: 'Slot agent runs without the changes of its file: context.' },
    ]);
    await send(gateway, 'POST', '/api/slots/agent/restart', { ...admin, idleTimeoutMs: 120_000 });
    expect(await findings()).toEqual([]);
  }, 240_000);

  it('doctor prints aligned text without colours', async () => {
    const { out } = await run('doctor');
    expect(out).toMatch(/^ok {4}gateway {7}svc-gateway \S+ answers on http/);
    expect(out).not.toContain('\u001b');
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('a backup during writes is complete and contains everything written before it started', async () => {
    const before = 40;
    for (let n = 0; n < before; n++) expect(await addMemory(`before ${n}`)).toBe(true);
    let writing = true;
    let written = 0;
    const writer = (async () => {
      while (writing) if (await addMemory(`during ${written}`)) written += 1;
    })();
    const made = await run('backup', file('a.tar.gz'), '--json');
    writing = false;
    await writer;
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(written).toBeGreaterThan(0);
    expect(statSync(file('a.tar.gz')).mode & 0o777).toBe(0o600);
    const other = mkdtempSync(join(folder, 'other-'));
    const put = await svcctl(['restore', file('a.tar.gz')], { env: { SVC_HOME: other } });
    expect(put).toMatchObject({ code: 0, err: '' });
    const count = memories(join(other, 'state'));
    expect(count).toBeGreaterThanOrEqual(before);
    expect(count).toBeLessThanOrEqual(before + written);
    expect(readFileSync(join(other, 'config/config.toml'), 'utf8')).toContain('require_auth = true');
    expect(existsSync(join(other, 'config/api.env'))).toBe(true);
    expect(readFileSync(join(other, 'config/api.env'), 'utf8')).not.toContain(ADMIN_KEY);
  });

  it('restore fails and names the process; an existing file is not overwritten', async () => {
    const refused = await run('restore', file('a.tar.gz'));
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(`process ${gateway.pid}`);
    const existing = await run('backup', file('a.tar.gz'), '--json');
    expect(existing.code).toBe(1);
    expect(JSON.parse(existing.err)).toMatchObject({ error: { code: 'backup.exists' } });
    expect(await run('backup')).toMatchObject({ code: 2 });
  });
});

describe('while it is stopped', () => {
  beforeAll(async () => {
    expect(await run('backup', '--with-keys', file('keys.tar.gz'))).toMatchObject({ code: 0, err: '' });
    await gateway.stop();
  });

  it('doctor works and reports it', async () => {
    const report = (await run('doctor', '--json')).json<Report>();
    expect(report.findings[0]).toMatchObject({ id: 'gateway', status: 'warn' });
    expect(report.findings.find(({ id }) => id === 'database')).toMatchObject({ status: 'ok' });
  });

  it('a restore brings back lost files, and the gateway starts with them', async () => {
    const config = join(gateway.home, 'config');
    rmSync(join(config, 'api.env'));
    writeFileSync(join(config, 'config.toml'), '[server\n');
    rmSync(join(gateway.home, 'state', 'svc.db'));
    const { findings } = (await run('doctor', '--json')).json<Report>();
    expect(findings.find(({ id }) => id === 'configuration')?.message).toMatch(/^config\.toml:1 /);
    expect(findings.find(({ id }) => id === 'exposure')).toMatchObject({ status: 'fail' });
    expect(await run('restore', file('keys.tar.gz'))).toMatchObject({ code: 0, err: '' });
    expect(readFileSync(join(config, 'api.env'), 'utf8')).toContain(ADMIN_KEY);
    const again = await startGateway({ home: gateway.home, env: { SVC_REQUIRE_AUTH: '' } });
    try {
      const response = await fetch(`${again.url}/api/memory`, {
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      expect(response.status).toBe(200);
      expect((await fetch(`${again.url}/api/memory`)).status).toBe(401);
    } finally {
      await again.stop();
    }
  });

  it('an invalid archive is rejected with a code and changes nothing', async () => {
    writeFileSync(file('bad.tar.gz'), 'no archive');
    const before = readFileSync(join(gateway.home, 'config/config.toml'), 'utf8');
    const refused = await run('restore', file('bad.tar.gz'), '--json');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.err)).toMatchObject({ error: { code: 'restore.invalid' } });
    expect(readFileSync(join(gateway.home, 'config/config.toml'), 'utf8')).toBe(before);
  });

  it('another user gets the advice to use sudo, not to change the owner of the folders', async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip('only root can become another user');
    const home = mkdtempSync(join(tmpdir(), 'svc-service-'));
    try {
      chmodSync(home, 0o755);
      for (const name of ['config', 'state']) mkdirSync(join(home, name), { mode: 0o700 });
      writeFileSync(join(home, 'config', 'config.toml'), '[server]\nport = 1234\n', { mode: 0o600 });
      const env = { SVC_HOME: home, SVC_URL: 'http://127.0.0.1:1' };
      for (const args of [
        ['config'],
        ['backup', '/tmp/svc-never.tar.gz'],
        ['restore', '/tmp/svc-never.tar.gz'],
      ]) {
        const ran = await svcctl(args, { env, uid: SERVICE_USER });
        expect(ran.code).toBe(1);
        expect(ran.err).toMatch(/use sudo, or run the command as the service user/i);
        expect(ran.err).not.toContain('chown');
      }
      const report = (await svcctl(['doctor', '--json'], { env, uid: SERVICE_USER })).json<Report>();
      expect(report.findings.filter(({ status }) => status === 'fail')).toEqual([]);
      expect(report.findings.filter(({ message }) => message.includes('cannot read'))).toHaveLength(1);
      for (const id of ['exposure', 'database', 'files'])
        expect(report.findings.filter((one) => one.id === id)).toEqual([]);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('root acts as the owner of the state folder, and the archive belongs to root', async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip('only root can become another user');
    const home = mkdtempSync(join(tmpdir(), 'svc-service-'));
    try {
      for (const folder of ['', 'config', 'state', 'config/slots']) {
        if (folder !== '') mkdirSync(join(home, folder), { mode: 0o700 });
        chownSync(join(home, folder), SERVICE_USER, SERVICE_USER);
      }
      writeFileSync(file('of-root.toml'), 'secret = 1\n', { mode: 0o600 });
      const env = { SVC_HOME: home };
      const result = await svcctl(['config'], { env: { ...env, SVC_URL: 'http://127.0.0.1:1' } });
      expect(result.out).toContain(`State         ${home}/state`);
      expect(result.out).not.toContain('belongs to user');
      for (const name of readdirSync(home, { recursive: true }) as string[]) {
        expect({ name, uid: statSync(join(home, name)).uid }).toEqual({ name, uid: SERVICE_USER });
      }
      expect(await svcctl(['restore', file('keys.tar.gz')], { env })).toMatchObject({ code: 0, err: '' });
      for (const name of readdirSync(home, { recursive: true }) as string[]) {
        expect({ name, uid: statSync(join(home, name)).uid }).toEqual({ name, uid: SERVICE_USER });
      }
      symlinkSync(file('of-root.toml'), join(home, 'config/slots/trap.toml'));
      const made = await svcctl(['backup', file('service.tar.gz'), '--json'], { env });
      expect(made.json<{ left_out: string[] }>().left_out).toEqual([
        'config/slots/trap.toml: cannot be read (EACCES)',
      ]);
      expect(statSync(file('service.tar.gz'))).toMatchObject({ uid: 0, mode: 0o100600 });
      const report = (await svcctl(['doctor', '--json'], { env })).json<Report>();
      expect(report.findings.find(({ id }) => id === 'files')).toMatchObject({ status: 'ok' });
      expect(JSON.stringify(report.findings)).not.toContain('belongs to user');
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});

describe('backup and restore work on this machine only', () => {
  it.each(['--url', 'SVC_URL'])('another machine named by %s is rejected', async (how) => {
    const elsewhere = 'http://gateway.example:8080';
    const home = join(folder, 'elsewhere');
    for (const command of ['backup', 'restore']) {
      const args = [command, file(`${command}.tar.gz`), ...(how === '--url' ? [how, elsewhere] : [])];
      const env = { SVC_HOME: home, ...(how === 'SVC_URL' ? { SVC_URL: elsewhere } : {}) };
      expect(await svcctl(args, { env })).toMatchObject({
        code: 2,
        err: expect.stringContaining('run it on gateway.example'),
      });
    }
    expect([existsSync(home), existsSync(file('backup.tar.gz'))]).toEqual([false, false]);
  });

  it('a backup without files fails and creates no folders', async () => {
    const home = join(folder, 'nothing');
    const ran = await svcctl(['backup', file('nothing.tar.gz')], { env: { SVC_HOME: home } });
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(`nothing to back up in ${home}/config and ${home}/state`);
    expect([existsSync(home), existsSync(file('nothing.tar.gz'))]).toEqual([false, false]);
  });

  it('both print the configuration folder', async () => {
    const home = join(folder, 'small');
    mkdirSync(join(home, 'config'), { recursive: true });
    writeFileSync(join(home, 'config', 'config.toml'), '[server]\nport = 1234\n');
    const env = { SVC_HOME: home };
    const made = await svcctl(['backup', file('small.tar.gz')], { env });
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toContain(`\nConfiguration ${home}/config\n`);
    expect(existsSync(join(home, 'state'))).toBe(false);
    const put = await svcctl(['restore', file('small.tar.gz')], { env });
    expect(put.out).toContain(`\nConfiguration ${home}/config\n`);
  });
});

it('the built-in engine passes its self-test', async () => {
  const ran = await svcctl(['doctor', '--self-test', '--json'], {
    env: { SVC_HOME: join(folder, 'unused') },
  });
  const test = ran.json<Report>().findings.at(-1);
  expect(test).toMatchObject({ id: 'self-test', status: 'ok' });
  expect(existsSync(join(folder, 'unused'))).toBe(false);
});
