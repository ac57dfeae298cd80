/**
 * docs/spec/specification.md#login-limiter over a real port: each test uses its own loopback address
 * and therefore its own bucket.
 */
import { describe, expect, it } from 'vitest';
import { keyIn } from './harness/auth-gateways.ts';
import {
  ADMIN_KEY,
  type Gateway,
  KEYS_FILE,
  QUIET_FILE,
  startGateway,
  startLocked,
  until,
} from './harness/gateway.ts';
import { type HttpResponse, type SendOptions, send } from './harness/http.ts';
import { forTest, OneGateway } from './harness/one-gateway.ts';
import { scale } from './harness/scale.ts';

const FILES = { ...KEYS_FILE, ...QUIET_FILE };
const MAX = 10;

/** The limits of docs/spec/specification.md#login-limiter; a short window; X-Forwarded-For trusted. */
const gateway = new OneGateway(startLocked);
const quick = new OneGateway(() =>
  startLocked({ env: { SVC_LOGIN_RATELIMIT_MAX: '3', SVC_LOGIN_RATELIMIT_WINDOW_S: '2.5' } }),
);
const trusting = new OneGateway(() =>
  startLocked({ env: { SVC_TRUST_FORWARDED_FOR: 'true', SVC_LOGIN_RATELIMIT_MAX: '2' } }),
);

const tryLogin = (key: unknown, from: string, options: SendOptions = {}, at: Gateway = gateway) =>
  send(at, 'POST', '/api/auth/login', { from, body: { key }, ...options });
const rotate = (from: string, options: SendOptions = {}) =>
  send(gateway, 'POST', '/api/auth/rotate', { from, key: ADMIN_KEY, body: { tier: 'client' }, ...options });

async function repeat(
  count: number,
  call: (index: number) => Promise<HttpResponse>,
): Promise<HttpResponse[]> {
  const responses: HttpResponse[] = [];
  for (let index = 0; index < count; index++) responses.push(await call(index));
  return responses;
}
/** Other tests rotate the client key; the current one is in the file. */
const clientKey = () => keyIn(gateway, 'SVC_CLIENT_KEY');
const statuses = (responses: HttpResponse[]) => responses.map(({ status }) => status);
const filled = (count: number, status: number) => Array.from({ length: count }, () => status);

describe('the default budget: 10 in 60 s', () => {
  it('L01/L03/L04 the eleventh is 429 with whole seconds, also with the right key', async () => {
    const from = '127.0.1.1';
    expect(statuses(await repeat(MAX, () => tryLogin('wrong', from)))).toEqual(filled(MAX, 401));
    for (const key of ['wrong', ADMIN_KEY]) {
      const response = await tryLogin(key, from);
      expect(response).toMatchObject({ status: 429, code: 'auth.rate_limited' });
      const { details } = response.json<{ error: { details: { retry_after_s: number } } }>().error;
      expect(Number.isInteger(details.retry_after_s)).toBe(true);
      expect(details.retry_after_s).toBeGreaterThanOrEqual(1);
      expect(details.retry_after_s).toBeLessThanOrEqual(60);
      expect(response.headers['retry-after']).toBe(String(details.retry_after_s));
      expect(response.headers['set-cookie']).toBeUndefined();
    }
    const sessions = await send(gateway, 'GET', '/api/auth/sessions', { key: ADMIN_KEY });
    expect(sessions.json<unknown[]>()).toEqual([]);
  });

  it('R15 login and rotate share it, both ways', async () => {
    const from = '127.0.1.2';
    const mixed = await repeat(MAX, (index) => (index % 2 === 0 ? tryLogin('wrong', from) : rotate(from)));
    expect(statuses(mixed)).toEqual(filled(MAX, 0).map((_, index) => (index % 2 === 0 ? 401 : 200)));
    expect(await rotate(from)).toMatchObject({ status: 429, code: 'auth.rate_limited' });
    expect(await tryLogin(ADMIN_KEY, from)).toMatchObject({ status: 429, code: 'auth.rate_limited' });
  });

  it('L05 successes count too', async () => {
    const from = '127.0.1.3';
    expect(statuses(await repeat(MAX, () => tryLogin(ADMIN_KEY, from)))).toEqual(filled(MAX, 200));
    expect((await tryLogin(ADMIN_KEY, from)).status).toBe(429);
  });

  it.each([
    ['no JSON', { body: '{"key":', headers: { 'content-type': 'application/json' } }, 400],
    ['another type', { body: 'key=x', headers: { 'content-type': 'text/plain' } }, 415],
    ['no key', { body: {} }, 422],
    ['a key that is not a string', { body: { key: 7 } }, 422],
    ['too large', { body: { key: 'k'.repeat(20_000) } }, 413],
  ] satisfies [string, SendOptions, number][])(
    'L05 a malformed body counts: %s',
    async (name, options, status) => {
      const from = `127.0.2.${name.length}`;
      const responses = await repeat(MAX, () => tryLogin('unused', from, options));
      expect(statuses(responses)).toEqual(filled(MAX, status));
      expect((await tryLogin(ADMIN_KEY, from)).status).toBe(429);
    },
  );

  it('L05/O10 requests rejected by Origin or tier do not count', async () => {
    const from = '127.0.1.4';
    const headers = { origin: 'https://evil.attacker.org' };
    expect(statuses(await repeat(MAX + 1, () => tryLogin(ADMIN_KEY, from, { headers })))).toEqual(
      filled(MAX + 1, 403),
    );
    expect(statuses(await repeat(MAX + 1, () => rotate(from, { key: undefined })))).toEqual(
      filled(MAX + 1, 401),
    );
    expect(statuses(await repeat(MAX + 1, () => rotate(from, { key: 'wrong' })))).toEqual(
      filled(MAX + 1, 401),
    );
    expect(statuses(await repeat(MAX + 1, () => rotate(from, { key: clientKey() })))).toEqual(
      filled(MAX + 1, 403),
    );
    expect(statuses(await repeat(MAX, () => tryLogin(ADMIN_KEY, from)))).toEqual(filled(MAX, 200));
    expect((await tryLogin(ADMIN_KEY, from)).status).toBe(429);
    expect(await tryLogin(ADMIN_KEY, from, { headers })).toMatchObject({ code: 'auth.origin_forbidden' });
  });

  it('a blocked caller can still do everything else', async () => {
    const from = '127.0.1.5';
    await repeat(MAX + 1, () => tryLogin('wrong', from));
    expect((await send(gateway, 'GET', '/api/settings', { from, key: ADMIN_KEY })).status).toBe(200);
    expect((await send(gateway, 'POST', '/api/auth/logout', { from })).status).toBe(200);
    expect((await tryLogin(ADMIN_KEY, '127.0.1.6')).status).toBe(200);
  });

  it('L14 of many concurrent attempts, exactly the budget is checked', async () => {
    const from = '127.0.1.7';
    const responses = await Promise.all(Array.from({ length: 3 * MAX }, () => tryLogin('wrong', from)));
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(MAX);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(2 * MAX);
  });

  it('L07 with trust off, X-Forwarded-For makes no new buckets, and the log names the setting', async () => {
    const from = '127.0.1.8';
    const count = Math.max(scale(1000), MAX + 5);
    const responses = await repeat(count, (index) =>
      tryLogin('wrong', from, { headers: { 'x-forwarded-for': `203.0.113.${index % 250}` } }),
    );
    expect(statuses(responses)).toEqual([...filled(MAX, 401), ...filled(count - MAX, 429)]);
    await gateway.waitFor('SVC_TRUST_FORWARDED_FOR=true');
  });
});

describe('a short window: 3 in 2.5 s', () => {
  it('L02 further attempts do not extend a block', async () => {
    const from = '127.0.3.1';
    const before = performance.now();
    await repeat(3, () => tryLogin('wrong', from, {}, quick));
    let blocked = 0;
    await until(
      async () => {
        const { status } = await tryLogin('wrong', from, {}, quick);
        if (status === 429) blocked++;
        return status === 401;
      },
      'the block to end despite further attempts',
      10_000,
    );
    expect(blocked).toBeGreaterThan(3);
    expect(performance.now() - before).toBeGreaterThanOrEqual(2_499);
  });

  it('L04 waiting exactly retry_after_s succeeds', async () => {
    const from = '127.0.3.2';
    await repeat(3, () => tryLogin('wrong', from, {}, quick));
    const refused = await tryLogin(ADMIN_KEY, from, {}, quick);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeLessThanOrEqual(3);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    expect((await tryLogin(ADMIN_KEY, from, {}, quick)).status).toBe(200);
  });
});

describe('L08 with trust on, the right-most address that is not a trusted proxy', () => {
  let next = 0;
  /** Fills the bucket of `header`. Returns whether `probe` uses the same one. */
  const sameBucket = async (header: string, probe: SendOptions) => {
    const from = `127.0.4.${++next}`;
    const headers = { 'x-forwarded-for': header };
    await repeat(2, () => tryLogin('wrong', from, { headers }, trusting));
    const { status } = await tryLogin('wrong', `127.0.5.${next}`, probe, trusting);
    return status === 429;
  };
  const via = (value: string): SendOptions => ({ headers: { 'x-forwarded-for': value } });

  it.each([
    ['203.0.113.1', '203.0.113.1'],
    ['203.0.113.2', '198.51.100.9, 203.0.113.2'],
    ['198.51.100.8, 203.0.113.3', 'unknown, 203.0.113.3'],
    ['203.0.113.4:5566', '203.0.113.4'],
    ['[2001:db8::4]:5566', '2001:db8::4'],
    ['2001:db8:0:0::5', '[2001:db8::5]'],
    ['::ffff:203.0.113.6', '203.0.113.6'],
  ])('%s and %s are one caller', async (first, second) =>
    expect(await sameBucket(first, via(second))).toBe(true),
  );

  it.each([
    ['203.0.113.20', '203.0.113.21'],
    ['203.0.113.22, 203.0.113.23', '203.0.113.22'],
    ['2001:db8::20', '2001:db8::21'],
  ])('%s and %s are two callers', async (first, second) =>
    expect(await sameBucket(first, via(second))).toBe(false),
  );

  it.each(['', 'unknown', 'garbage', '999.1.1.1', '203.0.113.30, x', '[::1', '1.2.3.4:99999999'])(
    '%j names no address: the peer address is used',
    async (header) => {
      const from = `127.0.6.${++next}`;
      await repeat(2, () => tryLogin('wrong', from, via(header), trusting));
      expect((await tryLogin('wrong', from, {}, trusting)).status).toBe(429);
      expect((await tryLogin('wrong', `127.0.7.${next}`, via(header), trusting)).status).toBe(401);
    },
  );
});

describe('invalid values of the two variables', () => {
  it('are the default with a warning, never "unlimited"', async () => {
    const wrong = await forTest(
      startGateway({
        files: FILES,
        env: { SVC_LOGIN_RATELIMIT_MAX: '0', SVC_LOGIN_RATELIMIT_WINDOW_S: 'forever' },
      }),
    );
    for (const name of ['SVC_LOGIN_RATELIMIT_MAX', 'SVC_LOGIN_RATELIMIT_WINDOW_S']) {
      expect(wrong.output()).toContain(name);
    }
    expect(statuses(await repeat(MAX, () => tryLogin('wrong', '127.0.8.1', {}, wrong)))).toEqual(
      filled(MAX, 401),
    );
    const response = await tryLogin('wrong', '127.0.8.1', {}, wrong);
    expect(response.status).toBe(429);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(40);
  });
});
