/** docs/spec/contract.md#shutdown at the end of the drain: streams end with an error event, waiting callers get 503. */
import { expect, it } from 'vitest';
import { until } from './harness/gateway.ts';
import { send } from './harness/http.ts';
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

it('streams of every API end with an error event and a complete body; waiting callers get 503', async () => {
  const streams: StreamedResponse[] = [];
  for (const [path, body] of STREAMS)
    streams.push(await openStream(gateway, path, { model: 'agent', ...body }));
  await until(() => streams.every((stream) => stream.text().length > 500), 'the streams to flow');
  const waiting = send(gateway, 'POST', '/v1/chat/completions', { body: { model: 'agent', messages } });
  await until(async () => (await slot(gateway, 'agent')).queued === 1, 'a caller to wait');
  const stopped = gateway.stop();
  expect(await Promise.all(streams.map((stream) => stream.ended))).toEqual([true, true, true, true]);
  for (const [index, [path, , end]] of STREAMS.entries()) {
    const text = (streams[index] as StreamedResponse).text();
    expect(text, path).toMatch(end);
    expect(text, path).not.toMatch(/\[DONE\]|message_stop|response\.completed/);
  }
  const refused = await waiting;
  expect(refused).toMatchObject({ status: 503, code: 'gateway.stopping' });
  expect(refused.headers['retry-after']).toBe('5');
  expect(await stopped).toBe(0);
  expect(gateway.output()).toContain('"event":"stopped"');
});
