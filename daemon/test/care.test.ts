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
import { OneGateway } from './harness/one-gateway.ts';
import { svcctl, svcctlEnv } from './harness/svcctl.ts';
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

const run = (...args: string[]) => svcctl(args, { env: svcctlEnv(gateway) });
const file = (name: string) => join(folder, name);

async function remember(text: string): Promise<boolean> {
  const answer = await fetch(`${gateway.url}/api/memory`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` },
    body: JSON.stringify({ text }),
  });
  return answer.ok;
}

/** How many memories a database holds. */
function memories(state: string): number {
  const store = openStore({ folder: state, log: silentLog() });
  try {
    return store.memory.list(10_000, 0).length;
  } finally {
    store.close();
  }
}

describe('while the gateway runs', () => {
  it('doctor asks it, names the broken file and shows no key', async () => {
    const ran = await run('doctor', '--json');
    const report = ran.json<Report>();
    const about = (id: string) => report.findings.filter((one) => one.id === id);
    expect(about('gateway')[0]).toMatchObject({
      status: 'ok',
      message: expect.stringContaining(gateway.url),
    });
    expect(about('port')[0]?.status).toBe('ok');
    expect(about('exposure')[0]?.status).toBe('ok');
    expect(about('configuration')[0]?.message).toContain('slots/broken.toml');
    expect(ran.code).toBe(report.failures === 0 ? 0 : 1);
    expect(ran.out + ran.err).not.toContain(ADMIN_KEY);
    expect(ran.out + ran.err).not.toContain(CLIENT_KEY);
  });

  it('doctor in words is aligned and has no colours', async () => {
    const { out } = await run('doctor');
    expect(out).toMatch(/^ok {4}gateway {7}svc-gateway \S+ answers on http/);
    expect(out).not.toContain('\u001b');
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  it('a backup under writes is whole and has everything from before it began', async () => {
    const before = 40;
    for (let n = 0; n < before; n++) expect(await remember(`before ${n}`)).toBe(true);
    let writing = true;
    let written = 0;
    const writer = (async () => {
      while (writing) if (await remember(`during ${written}`)) written += 1;
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

  it('restore refuses, naming the process, and a name that is taken is kept', async () => {
    const refused = await run('restore', file('a.tar.gz'));
    expect(refused.code).toBe(1);
    expect(refused.err).toContain(`process ${gateway.pid}`);
    const taken = await run('backup', file('a.tar.gz'), '--json');
    expect(taken.code).toBe(1);
    expect(JSON.parse(taken.err)).toMatchObject({ error: { code: 'backup.exists' } });
    expect(await run('backup')).toMatchObject({ code: 2 });
  });
});

describe('while it is stopped', () => {
  beforeAll(async () => {
    expect(await run('backup', '--with-keys', file('keys.tar.gz'))).toMatchObject({ code: 0, err: '' });
    await gateway.stop();
  });

  it('doctor works and says so', async () => {
    const report = (await run('doctor', '--json')).json<Report>();
    expect(report.findings[0]).toMatchObject({ id: 'gateway', status: 'warn' });
    expect(report.findings.find(({ id }) => id === 'database')).toMatchObject({ status: 'ok' });
  });

  it('what was lost comes back, and the gateway starts on it', async () => {
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
      const answer = await fetch(`${again.url}/api/memory`, {
        headers: { authorization: `Bearer ${ADMIN_KEY}` },
      });
      expect(answer.status).toBe(200);
      expect((await fetch(`${again.url}/api/memory`)).status).toBe(401);
    } finally {
      await again.stop();
    }
  });

  it('a hostile archive is refused with a code and changes nothing', async () => {
    writeFileSync(file('bad.tar.gz'), 'no archive');
    const before = readFileSync(join(gateway.home, 'config/config.toml'), 'utf8');
    const refused = await run('restore', file('bad.tar.gz'), '--json');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.err)).toMatchObject({ error: { code: 'restore.invalid' } });
    expect(readFileSync(join(gateway.home, 'config/config.toml'), 'utf8')).toBe(before);
  });

  it('who is not the user of the service is told to use sudo, not to take its folders', async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip('only root can become somebody else');
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
        expect(ran.err).toMatch(/use sudo, or be the user of the service/i);
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

  it('root works as the owner of the state folder, and the archive is its own', async ({ skip }) => {
    if (process.getuid?.() !== 0) return skip('only root can become somebody else');
    const home = mkdtempSync(join(tmpdir(), 'svc-service-'));
    try {
      for (const place of ['', 'config', 'state', 'config/slots']) {
        if (place !== '') mkdirSync(join(home, place), { mode: 0o700 });
        chownSync(join(home, place), SERVICE_USER, SERVICE_USER);
      }
      writeFileSync(file('of-root.toml'), 'secret = 1\n', { mode: 0o600 });
      const env = { SVC_HOME: home };
      const asked = await svcctl(['config'], { env: { ...env, SVC_URL: 'http://127.0.0.1:1' } });
      expect(asked.out).toContain(`State         ${home}/state`);
      expect(asked.out).not.toContain('belongs to user');
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
        'config/slots/trap.toml: can not be read (EACCES)',
      ]);
      expect(statSync(file('service.tar.gz'))).toMatchObject({ uid: 0, mode: 0o100600 });
      const seen = (await svcctl(['doctor', '--json'], { env })).json<Report>();
      expect(seen.findings.find(({ id }) => id === 'files')).toMatchObject({ status: 'ok' });
      expect(JSON.stringify(seen.findings)).not.toContain('belongs to user');
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});

describe('backup and restore are about this machine', () => {
  it.each(['--url', 'SVC_URL'])('another one that %s names is refused', async (how) => {
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

  it('a backup of nothing is none, and makes no folders', async () => {
    const home = join(folder, 'nothing');
    const ran = await svcctl(['backup', file('nothing.tar.gz')], { env: { SVC_HOME: home } });
    expect(ran.code).toBe(1);
    expect(ran.err).toContain(`nothing to back up in ${home}/config and ${home}/state`);
    expect([existsSync(home), existsSync(file('nothing.tar.gz'))]).toEqual([false, false]);
  });

  it('both say whose configuration it is', async () => {
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

it('the built-in engine answers its self-test', async () => {
  const ran = await svcctl(['doctor', '--self-test', '--json'], {
    env: { SVC_HOME: join(folder, 'nobody') },
  });
  const test = ran.json<Report>().findings.at(-1);
  expect(test).toMatchObject({ id: 'self-test', status: 'ok' });
  expect(existsSync(join(folder, 'nobody'))).toBe(false);
});
