/** docs/spec/contract.md#shutdown at the end of the drain: streams end with an error event, waiting callers get 503. */
import { beforeAll, expect, it } from 'vitest';
import { until } from './harness/gateway.ts';
import { type HttpResponse, send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { slot } from './harness/slots.ts';
import { openStream, type StreamedResponse } from './harness/stream.ts';
import { ENDLESS, startTiny, WINDOW } from './harness/tiny-gateway.ts';

const gateway = new OneGateway(
  () =>
    startTiny({
      files: {
        'config/config.toml': '[server]\ndrain_limit_s = 1\n',
        'config/slots/agent.toml': `context = ${WINDOW}\nparallel = 4\n`,
      },
    }),
  { stopSignal: 'SIGKILL' },
);

const messages = [{ role: 'user', content: ENDLESS }];
const long = { temperature: 0, max_tokens: 30_000, stream: true };

/** The streams of each API, and what their last event looks like. */
const STREAMS: readonly (readonly [path: string, body: object, end: RegExp])[] = [
  ['/v1/chat/completions', { messages, ...long }, /\n\ndata: \{"error":\{"code":"gateway\.stopping".*\n\n$/],
  [
    '/v1/completions',
    { prompt: ENDLESS, ...long },
    /\n\ndata: \{"error":\{"code":"gateway\.stopping".*\n\n$/,
  ],
  ['/v1/messages', { messages, ...long }, /event: error\ndata: .*"type":"error".*stopping.*\n\n$/],
  ['/v1/responses', { input: ENDLESS, ...long, max_output_tokens: 30_000 }, /"gateway\.stopping"/],
];

/** Callers that wait for a turn while the streams run. A streamed one would get its status after 10 s of silence. */
const WAITING: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', { messages }],
  ['/v1/completions', { prompt: 'x' }],
  ['/v1/messages', { messages, max_tokens: 9 }],
  ['/v1/responses', { input: 'x' }],
];

const streams: StreamedResponse[] = [];
let waiting: HttpResponse[] = [];
let exitCode: number | null;
beforeAll(async () => {
  for (const [path, body] of STREAMS)
    streams.push(await openStream(gateway, path, { model: 'agent', ...body }));
  await until(() => streams.every((stream) => stream.text().length > 500), 'the streams to flow');
  const sent = WAITING.map(([path, body]) =>
    send(gateway, 'POST', path, { body: { model: 'agent', ...body } }),
  );
  await until(async () => (await slot(gateway, 'agent')).queued === WAITING.length, 'the callers to wait');
  const stopped = gateway.stop();
  expect(await Promise.all(streams.map((stream) => stream.ended))).toEqual([true, true, true, true]);
  waiting = await Promise.all(sent);
  exitCode = await stopped;
});

it.each(STREAMS.map(([path], index) => [path, index] as const))(
  'a stream of %s ends with an error event and a complete body',
  (path, index) => {
    const text = streams[index]?.text();
    expect(text).toMatch(STREAMS[index]?.[2] as RegExp);
    expect(text, path).not.toMatch(/\[DONE\]|message_stop|response\.completed/);
  },
);

it.each(WAITING.map(([path, body], index) => [path, body, index] as const))(
  'a caller of %s that waits with %j gets 503',
  (path, _, index) => {
    const refused = waiting[index];
    expect(refused?.status).toBe(503);
    const { error } = JSON.parse(refused?.text ?? '') as { error: { code: string; type: string } };
    expect(error.code).toBe('gateway.stopping');
    if (path === '/v1/messages') expect(error.type).toBe('overloaded_error');
    expect(refused?.headers['retry-after']).toBe('5');
  },
);

it('the gateway exits with 0', () => {
  expect(exitCode).toBe(0);
  expect(gateway.output()).toContain('"event":"stopped"');
});
