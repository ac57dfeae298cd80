import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { CallEnd } from '../upstreams/call-meaning.ts';
import { NO_UPSTREAMS, type Upstreams } from './ports.ts';
import { upstreamCall, upstreamConfigOf } from './testing/builders.ts';
import { post, until } from './testing/client.ts';
import { BODIES, MESSAGES, RESPONSES } from './testing/dialects.ts';
import { CHAT, closeAfterEach, delta, hello, SSE, setUp } from './testing/forwarding.ts';

closeAfterEach();

const ALL = { ...BODIES, [CHAT]: hello };
const PATHS = [CHAT, RESPONSES, MESSAGES] as const;
const LOST = 'data: {"error":{"message":"gpu lost","code":500}}\n\n';

const respondWith =
  (status: number, headers: Record<string, string>, body: string): RequestListener =>
  (req, res) => {
    req.resume();
    res.writeHead(status, headers);
    res.end(body);
  };
const JSON_TYPE = { 'content-type': 'application/json' };

async function recordOf(path: (typeof PATHS)[number], engine: RequestListener, stream: boolean) {
  const { gateway } = await setUp(engine);
  await post(gateway.origin, path, { ...ALL[path], stream });
  await until(() => gateway.log.length === 1);
  return { record: gateway.log[0], finished: gateway.finished[0] };
}

describe.each(PATHS)('%s: a failure reported by an engine is recorded', (path) => {
  test.each([
    ['an event at the end', LOST, 'upstream.error'],
    ['an event before [DONE]', `${LOST}data: [DONE]\n\n`, 'upstream.error'],
    ['a code of the catalogue', 'data: {"error":{"message":"x","code":"slot.failed"}}\n\n', 'slot.failed'],
    [
      'an event longer than the buffered end',
      `data: {"error":{"message":"${'x'.repeat(9_000)}","code":500}}\n\n`,
      'upstream.error',
    ],
  ])('%s', async (_, end, error) => {
    const { record, finished } = await recordOf(path, respondWith(200, SSE, delta('a') + end), true);
    expect(record).toMatchObject({ status: 200, error });
    expect(finished).toMatchObject({ status: 200, inBandCode: error });
  });

  test.each([
    [429, '{"error":{"message":"slow","code":"rate_limit_exceeded"}}', 'rate_limit_exceeded'],
    [400, '{"error":{"message":"no","code":null,"type":"invalid_request_error"}}', 'upstream.error'],
    [400, `{"error":{"message":"no","code":"${'x'.repeat(100)}"}}`, 'x'.repeat(64)],
  ])('%d %s', async (status, body, error) => {
    const { record } = await recordOf(path, respondWith(status, JSON_TYPE, body), false);
    expect(record).toMatchObject({ status, error });
  });

  test('text about errors in a successful response is not a failure', async () => {
    const event = `data: ${JSON.stringify({ choices: [{ delta: { content: LOST }, finish_reason: 'stop' }] })}\n\n`;
    const { record, finished } = await recordOf(
      path,
      respondWith(200, SSE, `${event}data: [DONE]\n\n`),
      true,
    );
    expect(record).toMatchObject({ status: 200, error: null });
    expect(finished).toMatchObject({ inBandCode: null });
  });
});

test.each([RESPONSES, MESSAGES] as const)(
  '%s: a stream without an end marker is recorded as a failure',
  async (path) => {
    const { record } = await recordOf(path, respondWith(200, SSE, delta('a')), true);
    expect(record).toMatchObject({ status: 200, error: 'upstream.error' });
  },
);

test('an error while a stream waits is also recorded', async () => {
  const { gateway, slots } = await setUp(
    respondWith(500, JSON_TYPE, '{"error":{"message":"x","code":"oom"}}'),
  );
  slots.before = (_, options) => options.onDecided?.();
  await post(gateway.origin, CHAT, { ...hello, stream: true });
  await until(() => gateway.log.length === 1);
  expect(gateway.log[0]?.error).toBe('oom');
});

test.each([
  [200, SSE, delta('a') + LOST, { status: 500 }],
  [200, SSE, `${delta('a')}data: {"error":{"message":"x"}}\n\n`, null],
  [429, JSON_TYPE, '{"error":{"message":"slow","code":"rate_limit_exceeded"}}', { status: 429 }],
])('%d %j %s is reported to the upstream as %j', async (status, headers, body, expected) => {
  const ends: CallEnd[] = [];
  const origin = { now: '' };
  const upstreams: Upstreams = {
    ...NO_UPSTREAMS,
    list: () => [upstreamConfigOf({ name: 'cloud', isCold: false, models: ['far-model'] })],
    connect: () => upstreamCall({ origin: origin.now, onEnd: (end) => void ends.push(end) }),
  };
  const { gateway, engine } = await setUp(respondWith(status, headers, body), { upstreams });
  origin.now = engine.origin;
  await post(gateway.origin, CHAT, { ...hello, model: 'far-model', stream: true });
  await until(() => gateway.log.length === 1);
  expect(ends).toEqual([expected]);
});

test('an upstream is notified of the start of its response', async () => {
  const notifications: unknown[] = [];
  const origin = { now: '' };
  const going = Promise.withResolvers<void>();
  const upstreams: Upstreams = {
    ...NO_UPSTREAMS,
    list: () => [upstreamConfigOf({ name: 'cloud', isCold: false, models: ['far-model'] })],
    connect: () =>
      upstreamCall({
        origin: origin.now,
        onResponse: (status) => void notifications.push(status),
        onEnd: (end) => void notifications.push(end),
      }),
  };
  const { gateway, engine } = await setUp(
    async (req, res) => {
      req.resume();
      res.writeHead(200, SSE).write(delta('a'));
      await going.promise;
      res.end('data: [DONE]\n\n');
    },
    { upstreams },
  );
  origin.now = engine.origin;
  const answered = post(gateway.origin, CHAT, { ...hello, model: 'far-model', stream: true });
  await until(() => notifications.length > 0);
  expect(notifications).toEqual([200]);
  going.resolve();
  await answered;
  await until(() => notifications.length > 1);
  expect(notifications).toEqual([200, { status: 200 }]);
});
