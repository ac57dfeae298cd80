/** docs/spec/specification.md#command-line: the real `svcctl` against a real daemon. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RotateView } from '../contract/auth.ts';
import type { StatusOverviewView } from '../contract/system.ts';
import { newRequestId } from '../lib/request-id.ts';
import { TINY_REPLY } from '../models/testing/gguf/tiny-chat.ts';
import { fingerprint, keyIn } from './harness/auth-gateways.ts';
import { ADMIN_KEY, CLIENT_KEY } from './harness/gateway.ts';
import { login, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { waitForSlotState } from './harness/slots.ts';
import { envFor, type RunOptions, svcctl } from './harness/svcctl.ts';
import { startGuarded } from './harness/tiny-gateway.ts';

const gateway = new OneGateway(() =>
  startGuarded({
    env: { SVC_REQUIRE_AUTH: '' },
    files: { 'config/slots/hollow.toml': 'model = "not-here"\n' },
  }),
);

const run = (args: string[], options: RunOptions = {}) =>
  svcctl(args, { ...options, env: { ...envFor(gateway), ...options.env } });
const keyInFile = (name: string) => keyIn(gateway, name);

describe('auth status', () => {
  it('as text and as JSON', async () => {
    const text = await run(['auth', 'status']);
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toBe('Enforcement  on\nAdmin key    set\nYour tier    admin\n');
    const machine = await run(['auth', 'status', '--json']);
    expect(machine.json()).toEqual({ auth_required: true, has_admin_key: true, tier: 'admin' });
  });

  it.each<[string, Record<string, string>, string]>([
    ['SVC_ADMIN_KEY first', { SVC_ADMIN_KEY: ADMIN_KEY, SVC_CLIENT_KEY: CLIENT_KEY }, 'admin'],
    [
      'a wrong SVC_ADMIN_KEY is not skipped',
      { SVC_ADMIN_KEY: 'wrong-admin', SVC_CLIENT_KEY: CLIENT_KEY },
      'anon',
    ],
    ['then SVC_CLIENT_KEY, before the file', { SVC_CLIENT_KEY: CLIENT_KEY }, 'client'],
    ['a blank one counts as unset', { SVC_ADMIN_KEY: ' ', SVC_CLIENT_KEY: '' }, 'admin'],
    ['then the file', {}, 'admin'],
    ['none at all', { SVC_HOME: '/nonexistent' }, 'anon'],
  ])('the order of credentials: %s', async (_, env, tier) => {
    expect((await run(['auth', 'status', '--json'], { env })).json()).toMatchObject({ tier });
  });
});

describe('the address', () => {
  it('is that of the running gateway when only its folders are known', async () => {
    const found = await run(['auth', 'status', '--json'], { env: { SVC_URL: '' } });
    expect(found).toMatchObject({ code: 0, err: '' });
    const doctor = await run(['doctor', '--json'], { env: { SVC_URL: '' } });
    expect(doctor.out).toContain(`answers on ${gateway.url}.`);
    const named = await run(['auth', 'status'], { env: { SVC_URL: '', SVC_PORT: '1' } });
    expect(named.err).toContain('cannot reach http://127.0.0.1:1: ');
  });
});

describe('a host that is not this machine', () => {
  it('X04 receives no key of api.env, which one line reports; a key of the environment is sent', async () => {
    const other = ['auth', 'status', '--url', 'http://gateway.invalid:1'];
    const withheld = await run(other);
    expect(withheld.code).toBe(3);
    expect(withheld.err).toMatch(/^svcctl: no key is sent to gateway\.invalid: \S+api\.env belongs to /);
    expect((await run(other, { env: { SVC_ADMIN_KEY: 'key-of-the-other-host' } })).err).not.toContain(
      'no key',
    );
  });
});

describe.runIf(process.geteuid?.() === 0)('a port that belongs to another user of this machine', () => {
  /** A program that responds like a gateway and prints the key of each request. */
  const FAKE_GATEWAY = `
    const answer = { status: 'ok', name: 'svc-gateway', version: '1.0.0' };
    const server = require('node:http').createServer((req, res) => {
      console.log(req.headers.authorization ?? 'no key');
      res.setHeader('x-request-id', '${newRequestId()}');
      res.end(JSON.stringify(answer));
    });
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

  it('receives no key of api.env, which one line reports, also from doctor', async () => {
    const child = spawn('/proc/self/exe', ['-e', FAKE_GATEWAY], {
      uid: 65534,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill());
    const requests: string[] = [];
    const lines = createInterface(child.stdout);
    const [port] = (await once(lines, 'line')) as [string];
    lines.on('line', (line) => requests.push(line));
    const url = ['--url', `http://127.0.0.1:${port}`];
    const withheld = await run(['config', '--json', ...url]);
    expect(withheld.err).toContain(
      `svcctl: no key is sent to user 65534, whose process listens on port ${port}: `,
    );
    await run(['doctor', ...url]);
    expect(requests.length).toBeGreaterThan(2);
    expect(new Set(requests)).toEqual(new Set(['no key']));
  });
});

describe('auth sessions', () => {
  it('lists the valid ones by their first eight characters', async () => {
    expect((await run(['auth', 'sessions'])).out).toBe('No session is valid now.\n');
    expect((await run(['auth', 'sessions', '--json'])).json<unknown[]>()).toEqual([]);
    const cookie = await login(gateway, ADMIN_KEY);
    const ran = await run(['auth', 'sessions']);
    expect(ran.out).toMatch(/^SESSION +CREATED +EXPIRES\n[0-9a-f]{8} +\S+Z +\S+Z\n$/);
    expect(ran.out).not.toContain(cookie.split('=')[1]);
  });
});

describe('auth rotate', () => {
  it('without a terminal and without --force it changes nothing', async () => {
    for (const input of ['', 'y\n']) {
      const ran = await run(['auth', 'rotate', 'admin'], { input });
      expect(ran).toMatchObject({ code: 5, out: '' });
      expect(ran.err).toBe('svcctl: no terminal to confirm; pass --force\n');
    }
    expect(keyInFile('SVC_ADMIN_KEY')).toBe(ADMIN_KEY);
  });

  it('at a terminal it asks and stops after a no', async () => {
    const declined = await run(['auth', 'rotate', 'client'], { terminal: true, input: 'n' });
    expect(declined.code).toBe(5);
    expect(declined.out).toContain('The old client key stops working at once');
    expect(declined.out).toContain('nothing was changed');
    const ended = await run(['auth', 'rotate', 'client'], { terminal: true, input: '' });
    expect(ended.code).toBe(5);
    expect(keyInFile('SVC_CLIENT_KEY')).toBe(CLIENT_KEY);
  });

  it('X04 after confirmation it prints the fingerprint, never the key', async () => {
    const ran = await run(['auth', 'rotate', 'client'], { terminal: true, input: 'y' });
    expect(ran.code, ran.out).toBe(0);
    const key = keyInFile('SVC_CLIENT_KEY');
    expect(key).not.toBe(CLIENT_KEY);
    expect(ran.out).toContain(`Fingerprint  ${fingerprint(key)}`);
    for (let from = 0; from + 6 <= key.length; from++)
      expect(ran.out).not.toContain(key.slice(from, from + 6));
  });

  it('with --force and --json', async () => {
    const ran = await run(['auth', 'rotate', 'admin', '--force', '--json']);
    expect(ran.code).toBe(0);
    const key = keyInFile('SVC_ADMIN_KEY');
    expect(ran.json<RotateView>()).toMatchObject({
      tier: 'admin',
      key_len: 43,
      fingerprint: fingerprint(key),
    });
    expect(ran.out).not.toContain(key);
    expect((await run(['auth', 'status', '--json'])).json()).toMatchObject({ tier: 'admin' });
  });

  it('the error names a stale key of the environment as the rejected one', async () => {
    const ran = await run(['auth', 'rotate', 'admin', '--force'], { env: { SVC_ADMIN_KEY: ADMIN_KEY } });
    expect(ran).toMatchObject({ code: 4, out: '' });
    expect(ran.err).toMatch(
      /This key is not valid here.*The key came from the environment variable SVC_ADMIN_KEY/,
    );
    expect(ran.err).not.toContain(ADMIN_KEY);
  });

  it('a client key is not enough', async () => {
    const env = { SVC_CLIENT_KEY: keyInFile('SVC_CLIENT_KEY') };
    const ran = await run(['auth', 'rotate', 'admin', '--force'], { env });
    expect(ran.code).toBe(4);
    expect(ran.err).toMatch(/\(auth\.forbidden\).*SVC_CLIENT_KEY/);
  });

  it('the limiter has its own exit code and the time to wait', async () => {
    let ran = await run(['auth', 'status']);
    for (let tries = 0; tries < 12; tries++) {
      const response = await send(gateway, 'POST', '/api/auth/login', { body: { key: 'wrong' } });
      if (response.status === 429) break;
    }
    ran = await run(['auth', 'rotate', 'admin', '--force']);
    expect(ran.code).toBe(6);
    expect(ran.err).toMatch(/Try again in \d+ s\. \(auth\.rate_limited\)/);
  });
});

describe('auth require', () => {
  it('turns enforcement off and on', async () => {
    expect((await run(['auth', 'require', 'off'])).out).toBe('Enforcement is off.\n');
    expect((await send(gateway, 'GET', '/api/settings')).status).toBe(200);
    const on = await run(['auth', 'require', 'on', '--json']);
    expect(on.json()).toEqual({ require_auth: true, persisted: true, source: 'file', applies_live: true });
    expect((await send(gateway, 'GET', '/api/settings')).status).toBe(401);
  });
});

describe('status', () => {
  it('shows gateway and slots', async () => {
    const ran = await run(['status']);
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toMatch(/^Gateway +svc-gateway \d+\.\d+\.\d+ on /);
    expect(ran.out).toMatch(/^SLOT +STATE +MODEL +DEVICE +REASON$/m);
    expect(ran.out).toMatch(/^agent +ready +tiny +cpu$/m);
    const view = (await run(['status', '--json'])).json<StatusOverviewView & { slot_list: object[] }>();
    expect(view).toMatchObject({ name: 'svc-gateway', enforcement: { require_auth: true } });
    expect(view.slot_list).toContainEqual(expect.objectContaining({ name: 'agent', state: 'ready' }));
  });
});

describe('chat', () => {
  it('streams a reply to arguments or standard input', async () => {
    const words = await run(['chat', 'Hello,', 'you.']);
    expect(words).toMatchObject({ code: 0, out: `${TINY_REPLY}\n`, err: '' });
    expect((await run(['chat'], { input: 'Hello.\n' })).out).toBe(`${TINY_REPLY}\n`);
  });

  it('with --json prints the response of the API', async () => {
    const ran = await run(['chat', '--json', '--model', 'svc/agent', 'Hello.']);
    expect(ran.json()).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: TINY_REPLY } }],
    });
  });

  it('a conversation at a terminal, until the end of input', async () => {
    const ran = await run(['chat'], { terminal: true, input: 'Hello.\nAgain.' });
    expect(ran.code, ran.out).toBe(0);
    expect(ran.out.split(TINY_REPLY)).toHaveLength(3);
  });

  it('an error is one line and an exit code', async () => {
    expect(await run(['chat', '--model', 'agnet', 'x'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/^svcctl: No slot .*"agnet".*\(dispatch\.no_route\)\n$/),
    });
    const json = await run(['chat', '--json', '--model', 'hollow', 'x']);
    expect(json).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(json.err)).toMatchObject({ error: { code: 'slot.failed', exit: 1 } });
    expect(await run(['chat'], { input: ' \n' })).toMatchObject({ code: 2, out: '' });
  });

  it('an engine that dies during a reply: one line and a non-zero exit code', async () => {
    const { pid } = await waitForSlotState(gateway, 'agent', 'ready', keyInFile('SVC_ADMIN_KEY'));
    const running = run(['chat', 'a']);
    await waitForSlotState(gateway, 'agent', 'serving', keyInFile('SVC_ADMIN_KEY'));
    process.kill(pid as number, 'SIGKILL');
    const ran = await running;
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(
      /^svcctl: .*(broke off|interrupted|connection closed|could not be reached|failed while it served)/,
    );
  });
});

describe('config', () => {
  it('works without a daemon, in both forms, and shows no secret', async () => {
    const env = { SVC_URL: 'http://127.0.0.1:1', SVC_LOG_LEVEL: 'warn' };
    const text = await run(['config'], { env });
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toMatch(
      /^The gateway did not provide its settings: cannot reach http:\/\/127\.0\.0\.1:1: .*\nThese are the settings that a gateway /,
    );
    expect(text.out).toContain(`Configuration ${gateway.home}/config`);
    expect(text.out).toMatch(/require_?auth.*true.*file/i);
    const { settings } = (await run(['config', '--json'], { env })).json<{
      settings: { name: string; value: unknown; source: string }[];
    }>();
    expect(settings).toContainEqual(
      expect.objectContaining({ name: 'logLevel', value: 'warn', source: 'env' }),
    );
    for (const name of ['SVC_ADMIN_KEY', 'SVC_CLIENT_KEY']) expect(text.out).not.toContain(keyInFile(name));
  });
});

describe('config of a running gateway', () => {
  const shell = { SVC_PORT: '4321' };

  it('comes from the gateway, not from the environment of the caller', async () => {
    const text = await run(['config'], { env: shell });
    expect(text).toMatchObject({ code: 0, err: '' });
    expect(text.out).toContain(`Configuration ${gateway.home}/config\nAnswered by   the running gateway\n`);
    expect(text.out).toMatch(/^requireAuth +true +file /m);
    expect(text.out).not.toMatch(/^port +4321 /m);
    const json = (await run(['config', '--json', '--url', gateway.url], { env: shell })).json<{
      answered_by: string;
      settings: { name: string; value: unknown }[];
    }>();
    expect(json.answered_by).toBe('gateway');
    expect(json.settings.find(({ name }) => name === 'port')?.value).not.toBe(4321);
    for (const name of ['SVC_ADMIN_KEY', 'SVC_CLIENT_KEY']) expect(text.out).not.toContain(keyInFile(name));
  });

  it('is what a start would use when the gateway rejects the key, without the sent keys', async () => {
    const text = await run(['config'], { env: { SVC_HOME: `${gateway.home}/none`, SVC_ADMIN_KEY: 'wrong' } });
    expect(text.code).toBe(0);
    expect(text.out).toMatch(/^The gateway did not provide its settings: This key is not valid here/);
    expect(text.out).toMatch(/^adminKey +\(not set\) /m);
  });
});

describe('invalid calls', () => {
  it.each([
    [[], 2, /^ {2}auth +Keys, enforcement /m, null],
    [
      ['--help'],
      0,
      /Exit codes:\n +0 ok, 1 failed, 2 usage, 3 unreachable, 4 refused, 5 declined, 6 limited/,
      null,
    ],
    [['nonsense'], 2, null, /there is no command "nonsense"/],
    [['auth'], 2, null, /auth needs a command: status, rotate, set, require, sessions/],
    [['slot'], 2, null, /there is no command "slot"\. Did you mean slots\?/],
    [['auth', 'rotate'], 2, null, /missing argument <tier>\. Usage: svcctl auth rotate /],
    [['auth', 'rotate', 'root', '--force'], 2, null, /<tier> takes admin, client/],
    [['auth', 'require', 'maybe'], 2, null, /<state> takes on, off/],
    [['auth', 'status', '--key', 'a-secret-key'], 2, null, /never accepted as an argument/],
    [['status', '--nope'], 2, null, /status has no option --nope\. See svcctl status --help\./],
    [['status', '--url', 'nonsense'], 2, null, /"nonsense" is not a gateway address/],
    [['doctor', '--url', 'nonsense'], 2, null, /"nonsense" is not a gateway address/],
    [['config', '--url', 'nonsense'], 2, null, /"nonsense" is not a gateway address/],
    [
      ['status', '--url', 'http://127.0.0.1:1'],
      3,
      null,
      /cannot reach http:\/\/127\.0\.0\.1:1: nothing listens/,
    ],
  ])('%j exits with %d', async (args, code, out, err) => {
    const ran = await run(args);
    expect(ran.code).toBe(code);
    if (out) expect(ran.out).toMatch(out);
    else expect(ran.out).toBe('');
    if (err) expect(ran.err).toMatch(err);
    expect(ran.err.split('\n').length).toBeLessThanOrEqual(2);
    expect(ran.err).not.toMatch(/a-secret-key|^\s+at |node:/m);
  });

  it('--json makes an error JSON too', async () => {
    const ran = await run(['status', '--json', '--url', 'http://127.0.0.1:1']);
    expect(ran).toMatchObject({ code: 3, out: '' });
    expect(JSON.parse(ran.err)).toMatchObject({ error: { code: null, exit: 3 } });
  });

  it.runIf(process.getuid?.() === 0)(
    'X04 an unreadable api.env: one line that names sudo and the variable',
    async () => {
      const ran = await run(['auth', 'sessions'], { uid: 65_534 });
      expect(ran.code).toBe(4);
      const [first, second] = ran.err.split('\n');
      expect(first).toBe(
        `svcctl: ${gateway.home}/config/api.env is not readable; use sudo, or set SVC_ADMIN_KEY.`,
      );
      expect(second).toMatch(/A key is required.*No key was found\./);
    },
  );

  it('a reader that closes the pipe early is no error', async () => {
    const { spawnSync } = await import('node:child_process');
    const svc = join(import.meta.dirname, '..', '..', 'scripts', 'svcctl');
    const { stderr, status } = spawnSync('sh', ['-c', `${svc} config | head -n 1`], {
      env: { PATH: process.env.PATH ?? '', ...envFor(gateway) },
      encoding: 'utf8',
    });
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  });
});
