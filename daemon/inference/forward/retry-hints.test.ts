import { describe, expect, test } from 'vitest';
import { post } from '../testing/client.ts';
import { BODIES, PATHS } from '../testing/dialects.ts';
import { CHAT, closeAfterEach, hello, setUp } from '../testing/forwarding.ts';
import { retryHints, withRetryAdvice } from './retry-hints.ts';

closeAfterEach();

const advice = (status: number, headers: Record<string, string>, body: unknown = {}) =>
  retryHints(withRetryAdvice(status, headers, Buffer.from(JSON.stringify(body))));

describe('withRetryAdvice', () => {
  test.each([
    [429, {}, { error: { message: 'slow down' } }, { 'retry-after': '5' }],
    [503, {}, { error: { message: 'Loading model', code: 503 } }, { 'retry-after': '10' }],
    [503, {}, '<html>', { 'retry-after': '10' }],
    [429, { 'retry-after': '60' }, {}, { 'retry-after': '60' }],
    [503, { 'retry-after-ms': '20' }, {}, { 'retry-after-ms': '20' }],
    [503, { 'x-should-retry': 'false' }, {}, { 'x-should-retry': 'false' }],
    [429, {}, { error: { code: 'insufficient_quota' } }, { 'x-should-retry': 'false' }],
    [429, {}, { error: { type: 'billing_not_active' } }, { 'x-should-retry': 'false' }],
    [429, {}, { error: { message: 'no "insufficient_quota" here' } }, { 'retry-after': '5' }],
    [500, {}, {}, {}],
    [502, {}, {}, {}],
    [400, {}, {}, {}],
  ])('%i %j %j: %j', (status, headers, body, expected) =>
    expect(advice(status, headers, body)).toEqual(expected),
  );
});

const BUSY = [
  { error: { code: 'busy', message: 'busy' } },
  { error: { message: 'Loading model', type: 'unavailable_error', code: 503 } },
  { detail: 'busy' },
  'busy',
];

test.each(BUSY)('a 503 with %j has Retry-After on every API', async (body) => {
  const { gateway } = await setUp((_, res) =>
    res.writeHead(503, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
  );
  for (const stream of [false, true])
    for (const path of [CHAT, ...PATHS]) {
      const request = path === CHAT ? hello : BODIES[path as keyof typeof BODIES];
      const answer = await post(gateway.origin, path, { ...request, stream });
      expect([answer.status, answer.headers['retry-after']], path).toEqual([503, '10']);
    }
});

test('rate limits of the engine reach the caller', async () => {
  const limits = {
    'x-ratelimit-limit-requests': '60',
    'x-ratelimit-remaining-tokens': '149984',
    'x-ratelimit-reset-requests': '1s',
  };
  const { gateway } = await setUp((req, res) => {
    const status = req.headers.accept === 'fail' ? 429 : 200;
    res.writeHead(status, { ...limits, 'x-ratelimit-other': '1', 'content-type': 'application/json' });
    res.end(
      JSON.stringify(
        status === 200 ? { choices: [{ message: { content: 'a' } }] } : { error: { code: 'a' } },
      ),
    );
  });
  for (const accept of ['ok', 'fail']) {
    const { headers } = await post(gateway.origin, CHAT, hello, { accept });
    expect(headers).toMatchObject(limits);
    expect(headers).not.toHaveProperty('x-ratelimit-other');
  }
});
