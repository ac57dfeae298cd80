import { describe, expect, it } from 'vitest';
import {
  ApiError,
  failureInfoOf,
  failureOf,
  isLost,
  lost,
  needsLogin,
  readableAdvice,
  toFailureInfo,
} from './api-error.ts';

const answer = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers });

describe('failureOf', () => {
  it('reads code, message, details and request id from the envelope, and the advice from the catalogue', async () => {
    const body = { error: { code: 'auth.invalid_key', message: 'The key is not the admin key.' } };
    const { info } = await failureOf(answer(401, body, { 'x-request-id': 'r-1' }));
    expect(info).toMatchObject({ status: 401, code: 'auth.invalid_key', requestId: 'r-1', details: {} });
    expect(info.advice).toContain('api.env');
  });

  it('prefers details.retry_after_s over the header', async () => {
    const body = {
      error: { code: 'auth.rate_limited', message: 'Too many.', details: { retry_after_s: 41 } },
    };
    expect((await failureOf(answer(429, body, { 'retry-after': '60' }))).info.retryAfterS).toBe(41);
    const bare = { error: { code: 'slot.loading', message: 'Loading.' } };
    expect((await failureOf(answer(503, bare, { 'retry-after': '7' }))).info.retryAfterS).toBe(7);
    expect((await failureOf(answer(503, bare))).info.retryAfterS).toBeNull();
  });

  it('stores the end of the delay, so that every view shows the same countdown', async () => {
    const bare = { error: { code: 'slot.loading', message: 'Loading.' } };
    const { info } = await failureOf(answer(503, bare, { 'retry-after': '7' }));
    expect(Math.abs((info.retryAt ?? 0) - Date.now() - 7000)).toBeLessThan(1000);
    expect((await failureOf(answer(503, bare))).info.retryAt).toBeNull();
  });

  it('recognises a proxy page, and treats a dead gateway behind it as lost', async () => {
    const failure = await failureOf(answer(502, '<html>Bad gateway</html>'));
    expect(failure.info.message).toContain('does not come from the gateway');
    expect(isLost(failure)).toBe(true);
    expect(isLost(await failureOf(answer(404, 'nope')))).toBe(false);
  });

  it('has no advice for a code outside the catalogue', () => {
    expect(failureInfoOf({ code: 'made.up', message: 'x' }, 400, new Headers())?.advice).toBeNull();
    expect(failureInfoOf({ code: null, message: 'x' }, 400, new Headers())?.code).toBe('http.400');
    expect(failureInfoOf('text', 400, new Headers())).toBeNull();
  });
});

describe('kinds of failure', () => {
  it('a real 503 of the gateway is not a lost connection', async () => {
    const body = { error: { code: 'slot.failed', message: 'The slot has failed.' } };
    expect(isLost(await failureOf(answer(503, body)))).toBe(false);
    expect(isLost(lost())).toBe(true);
  });

  it.each([502, 503, 504])('a %i of an upstream without a code is not a lost gateway', async (status) => {
    const failure = await failureOf(answer(status, { error: { code: null, message: 'Overloaded.' } }));
    expect(failure.info).toMatchObject({ status, code: `http.${status}`, message: 'Overloaded.' });
    expect(isLost(failure)).toBe(false);
  });

  it('needsLogin only for auth.required', async () => {
    const required = { error: { code: 'auth.required', message: 'A key is required.' } };
    expect(needsLogin(await failureOf(answer(401, required)))).toBe(true);
    const wrong = { error: { code: 'auth.invalid_key', message: 'Wrong.' } };
    expect(needsLogin(await failureOf(answer(401, wrong)))).toBe(false);
  });

  it('toFailureInfo keeps the message of an unknown error', () => {
    expect(toFailureInfo(new Error('boom')).message).toBe('boom');
    expect(toFailureInfo(new ApiError({ ...toFailureInfo('x'), code: 'a.b' })).code).toBe('a.b');
  });
});

describe('readableAdvice', () => {
  const advice = (code: string, retryAfterS: number | null = null): string | null => {
    const info = failureInfoOf({ code, message: 'x' }, 400, new Headers());
    return info === null ? null : readableAdvice({ ...info, retryAfterS });
  };

  it('omits references to details, and a delay with a countdown', () => {
    expect(advice('slot.failed')).toBe('Fix the cause, then load the slot again (svcctl slots load NAME).');
    expect(advice('request.invalid')).toBeNull();
    expect(advice('slot.no_memory')).toBe('Unload another slot, or choose a smaller model or context.');
    // A search also queries the hub, and has nothing to resume.
    expect(advice('pull.hub_unreachable')).toContain('then try again');
    expect(advice('slot.queue_full', 3)).toBeNull();
    expect(advice('slot.queue_full')).toContain('Retry-After');
    expect(advice('request.missing_model')).toContain('Send the id of a model');
  });
});
