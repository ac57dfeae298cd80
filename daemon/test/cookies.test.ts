/**
 * docs/spec/specification.md#session-cookie over a real port: only the canonical, correctly signed,
 * unexpired value is a session.
 */
import { createHmac } from 'node:crypto';
import { chmodSync, chownSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_KEY, QUIET_FILE, refusedStart, startLocked, until } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { login, rawExchange, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { randomFrom, scale, seed } from './harness/scale.ts';

const TTL_S = 28_800;
const agent = new Agent({ keepAlive: true, maxSockets: 2 });
let secret: Buffer;
/** The cookie value of a valid session. */
let value: string;

const gateway = new OneGateway(startLocked);
beforeAll(async () => {
  secret = readFileSync(join(gateway.home, 'state/secret.bin'));
  value = (await login(gateway, ADMIN_KEY)).slice('svc_session='.length);
});

afterAll(() => agent.destroy());

const nowS = () => Math.floor(Date.now() / 1000);
const encode = (text: string) => Buffer.from(text).toString('base64url');
const mac = (payload: string, key: string | Buffer = secret, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(payload).digest().toString('base64url');
const signed = (json: string, key?: string | Buffer, algorithm?: string) =>
  `${encode(json)}.${mac(encode(json), key, algorithm)}`;
const payload = (expires: number | string, id = 'forged') => `{"session_id":"${id}","expires_at":${expires}}`;

/** Returns the tier of a Cookie header, or the status of an error. The bytes are sent unchanged. */
async function tierOf(cookie: string | Buffer): Promise<string> {
  const head = 'GET /api/auth/status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncookie: ';
  const response = await rawExchange(
    gateway,
    Buffer.concat([Buffer.from(head), Buffer.from(cookie), Buffer.from('\r\n\r\n')]),
  );
  return /"tier":"(\w+)"/.exec(response)?.[1] ?? response.slice(9, 12);
}
const tier = (text: string | Buffer) =>
  tierOf(Buffer.concat([Buffer.from('svc_session='), Buffer.from(text)]));

describe('forged cookies', () => {
  it('with the secret the suite can forge a session of tier admin', async () => {
    expect(await tier(value)).toBe('admin');
    expect(await tier(signed(payload(nowS() + 60)))).toBe('admin');
  });

  it('K01 no single flipped bit survives', async () => {
    const bits = value.length * 8;
    const random = randomFrom(seed('cookies K01'));
    for (let turn = 0; turn < Math.max(100, scale(bits)); turn++) {
      const bit = Math.floor(random() * bits);
      const bytes = Buffer.from(value, 'latin1');
      bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(await tier(bytes), `bit ${bit} of ${value.length} bytes`).toMatch(/^(anon|400)$/);
    }
  });

  it('K03 only the canonical spelling: no padding, no other alphabet, no space, no stray low bits', async () => {
    const [body = '', signature = ''] = value.split('.');
    const last = signature.at(-1) as string;
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const stray = alphabet[alphabet.indexOf(last) ^ 1] as string;
    expect(Buffer.from(signature.slice(0, -1) + stray, 'base64url')).toEqual(
      Buffer.from(signature, 'base64url'),
    );
    const standard = Buffer.from(signature, 'base64url').toString('base64');
    for (const changed of [
      `${value}=`,
      `${body}=.${signature}`,
      `${body}.${signature.slice(0, -1)}${stray}`,
      `${body}.${standard}`,
      `${body}.${standard.replace('=', '')}/`,
      `${body} .${signature}`,
      `${body}. ${signature}`,
      `"${value}"`,
      `${value}.`,
      `${value}.${signature}`,
      `.${value}`,
      body,
      `${body}.`,
      `.${signature}`,
      encodeURIComponent(value).replace('.', '%2E'),
      value.toUpperCase(),
    ]) {
      expect(await tier(changed), changed).toBe('anon');
    }
  });

  it('K04 another secret, the keys, an empty key and other digests', async () => {
    const json = payload(nowS() + 60);
    for (const key of [
      Buffer.alloc(32),
      Buffer.alloc(32, 1),
      ADMIN_KEY,
      '',
      secret.toString('hex'),
      secret.toString('base64'),
    ]) {
      expect(await tier(signed(json, key))).toBe('anon');
    }
    for (const algorithm of ['sha1', 'sha512', 'md5', 'sha384']) {
      expect(await tier(signed(json, secret, algorithm))).toBe('anon');
    }
    const overJson = createHmac('sha256', secret).update(json).digest().toString('base64url');
    expect(await tier(`${encode(json)}.${overJson}`)).toBe('anon');
    const hex = createHmac('sha256', secret).update(encode(json)).digest('hex');
    expect(await tier(`${encode(json)}.${hex}`)).toBe('anon');
  });

  it('K05 a correctly signed payload of another shape is no session', async () => {
    const later = nowS() + 60;
    for (const json of [
      `{"alg":"none","session_id":"a","expires_at":${later}}`,
      `{"session_id":"a","expires_at":${later},"tier":"admin"}`,
      `{"session_id":"a","expires_at":1,"expires_at":${later}}`,
      `{"expires_at":${later},"expires_at":${later}}`,
      `{"session_id":"a","expires_at":"${later}"}`,
      `{"session_id":"a","expires_at":${later}.5}`,
      `{"session_id":"a","expires_at":${later}.0}`,
      `{"session_id":"a","expires_at":1e400}`,
      `{"session_id":"a","expires_at":NaN}`,
      `{"session_id":"a","expires_at":null}`,
      `{"session_id":"a","expires_at":-1}`,
      `{"session_id":"a","expires_at":[${later}]}`,
      `{"session_id":"a"}`,
      `{"expires_at":${later}}`,
      `{"session_id":"","expires_at":${later}}`,
      `{"session_id":7,"expires_at":${later}}`,
      `{"session_id":{"a":1},"expires_at":${later}}`,
      `{"session_id":"a\\u0062","expires_at":${later}}`,
      `{ "session_id":"a","expires_at":${later}}`,
      `[{"session_id":"a","expires_at":${later}}]`,
      'null',
      '"a"',
      '{}',
      '',
      '{"session_id":"a","expires_at":',
    ]) {
      expect(await tier(signed(json)), json).toBe('anon');
    }
  });

  it('K06 expired now or before, and further ahead than 8 h + 60 s, is no session', async () => {
    for (const expires of [0, 1, nowS() - 1, nowS()])
      expect(await tier(signed(payload(expires)))).toBe('anon');
    expect(await tier(signed(payload(nowS() + TTL_S)))).toBe('admin');
    expect(await tier(signed(payload(nowS() + TTL_S + 50)))).toBe('admin');
    for (const ahead of [TTL_S + 75, TTL_S * 2, 2 ** 40]) {
      expect(await tier(signed(payload(nowS() + ahead)))).toBe('anon');
    }
  });

  it('K06 a session ends by the clock alone', async () => {
    const cookie = `svc_session=${signed(payload(nowS() + 2))}`;
    const currentTier = async () =>
      (await send(gateway, 'GET', '/api/auth/status', { cookie, agent })).json().tier;
    expect(await currentTier()).toBe('admin');
    await until(async () => (await currentTier()) === 'anon', 'the session to expire', 5_000);
  });
});

describe('K07 unusual Cookie headers', () => {
  it('65 KiB are rejected by size', async () =>
    expect(await tierOf(`svc_session=${'a'.repeat(65 * 1024)}`)).toBe('431'));

  it('200 cookies, bad UTF-8 and garbage are anon without an error', async () => {
    const many = Array.from({ length: 200 }, (_, index) => `c${index}=v`).join('; ');
    for (const header of [
      `${many}; svc_session=${value}`,
      Buffer.from([0x73, 0x3d, 0xff, 0xfe, 0xc3, 0x28]),
      'svc_session',
      'svc_session=',
      '=;=;=',
      ';;;;',
      `SVC_SESSION=${value}`,
      `xsvc_session=${value}`,
      `svc_session=1; svc_session=2; svc_session=3; svc_session=4; svc_session=${value}`,
      '__proto__=1; constructor=2',
    ]) {
      expect(await tierOf(header)).toBe('anon');
    }
  });

  it.each([
    ['among other cookies', 'theme=dark; svc_session=VALUE; lang=en'],
    ['before one that is not valid', 'svc_session=VALUE; svc_session=rubbish'],
    ['after one that is not valid', 'svc_session=rubbish; svc_session=VALUE'],
    ['after one with a broken escape', 'svc_session=%E0%A4%A; svc_session=VALUE'],
    ['as the fourth', 'svc_session=1; svc_session=2; svc_session=; svc_session=VALUE'],
    ['twice', 'svc_session=VALUE; svc_session=VALUE'],
    ['without blanks', 'a=b;svc_session=1;svc_session=VALUE;c=d'],
    ['after a cookie without a name', '=x; junk; svc_session=VALUE'],
    [
      'beside those of other apps on this host',
      'connect.sid=s%3Aabc; token=ey.J; n8n-auth=x; svc_session=VALUE',
    ],
  ])('finds any valid one among the first four: %s', async (_, header) => {
    expect(await tierOf(header.replaceAll('VALUE', value))).toBe('admin');
  });

  it.each([
    ['the fifth', 'svc_session=1; svc_session=2; svc_session=3; svc_session=4; svc_session=VALUE'],
    ['another name in upper case', 'SVC_SESSION=VALUE'],
    ['a name that ends with it', 'xsvc_session=VALUE'],
    ['a value of another cookie', 'a="svc_session=VALUE'],
  ])('is none of the first four: %s', async (_, header) => {
    expect(await tierOf(header.replaceAll('VALUE', value))).toBe('anon');
  });
});

describe('K11 the secret file is rejected unless it is as this program wrote it', () => {
  const cases: [string, RegExp, (file: string, folder: string) => void][] = [
    [
      'is too short',
      /31 bytes instead of 32/,
      (file) => writeFileSync(file, Buffer.alloc(31), { mode: 0o600 }),
    ],
    [
      'is too long',
      /33 bytes instead of 32/,
      (file) => writeFileSync(file, Buffer.alloc(33), { mode: 0o600 }),
    ],
    ['is empty', /0 bytes instead of 32/, (file) => writeFileSync(file, '', { mode: 0o600 })],
    [
      'can be read by others',
      /mode 0644, wider than 0600/,
      (file) => {
        writeFileSync(file, Buffer.alloc(32, 7));
        chmodSync(file, 0o644);
      },
    ],
    [
      'is a symlink',
      /is a symlink, not a regular file/,
      (file, folder) => {
        writeFileSync(join(folder, 'elsewhere.bin'), Buffer.alloc(32, 7), { mode: 0o600 });
        symlinkSync(join(folder, 'elsewhere.bin'), file);
      },
    ],
    ['is a dangling symlink', /is a symlink/, (file, folder) => symlinkSync(join(folder, 'nothing'), file)],
    ['is a folder', /is a directory, not a regular file/, (file) => mkdirSync(file, { mode: 0o700 })],
  ];
  const asRoot = process.getuid?.() === 0;

  async function startWithSecret(make: (file: string, folder: string) => void) {
    const home = newHome();
    mkdirSync(join(home, 'state'), { mode: 0o700 });
    make(join(home, 'state/secret.bin'), home);
    return { ...(await refusedStart({ home, files: QUIET_FILE })), home };
  }

  it.each(cases)('%s', async (_name, line, make) => {
    const { code, text, home } = await startWithSecret(make);
    try {
      expect(code).toBe(1);
      const lines = text.split('\n').filter((each) => each.startsWith('svc-gateway: '));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(line);
      expect(lines[0]).toContain('secret.bin');
      expect(text).not.toMatch(/\bat .*\.ts:\d+/);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it.runIf(asRoot)('belongs to another user', async () => {
    const { code, text, home } = await startWithSecret((file) => {
      writeFileSync(file, Buffer.alloc(32, 7), { mode: 0o600 });
      chownSync(file, 12_345, 12_345);
    });
    rmSync(home, { recursive: true, force: true });
    expect(code).toBe(1);
    expect(text).toMatch(/^svc-gateway: secret\.bin belongs to user id 12345/m);
  });
});
