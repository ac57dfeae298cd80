/** Upstreams that report an answer as not completed: no API shows it as a complete one. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Front } from './harness/front-gateway.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
import { json, provider, type StandIn } from './harness/stand-in.ts';
import { openStream } from './harness/stream.ts';

const front = new Front();
let desk: StandIn;
beforeAll(async () => {
  await front.start();
  desk = await front.startStandIn(provider('m'));
  await front.add('desk', `base_url = "${desk.url}"\n`);
});
/** Closes the circuit breaker. */
beforeEach(async () => {
  desk.respondWith(provider('m'));
  await front.send('POST', '/api/upstreams/desk/test', { body: { model: 'm' } });
});
afterAll(() => front.close());

const MESSAGES = [{ role: 'user', content: 'hi' }];
const APIS: readonly [string, object][] = [
  ['/v1/chat/completions', { messages: MESSAGES }],
  ['/v1/completions', { prompt: 'hi' }],
  ['/v1/responses', { input: 'hi' }],
  ['/v1/messages', { messages: MESSAGES, max_tokens: 8 }],
];
const FINISHES: readonly [string, object][] = [
  ['abort', {}],
  ['error', {}],
  ['crashed', { error: { message: 'the worker died', type: 'server_error' } }],
];

describe.each(FINISHES)('finish_reason %s', (finish_reason, more) => {
  it.each(APIS)('a stream of %s ends with an error', async (path, body) => {
    const half = { choices: [{ index: 0, text: 'half', delta: { content: 'half' }, finish_reason: null }] };
    const last = { choices: [{ index: 0, text: '', delta: {}, finish_reason }], ...more };
    desk.respondWith(() => (_req, res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      res.end(`data: ${JSON.stringify(half)}\n\ndata: ${JSON.stringify(last)}\n\ndata: [DONE]\n\n`);
    });
    const request = { model: 'm', stream: true, ...body };
    const stream = await openStream(front.gateway, path, request, { key: CLIENT_KEY });
    await stream.ended;
    const text = stream.text();
    expect(text).toContain('half');
    expect(text.trimEnd().split('\n').at(-1)).toMatch(/^data: .*stopped before its answer was complete/);
    expect(text).not.toContain('[DONE]');
    expect(text).not.toMatch(/message_stop|response\.completed|end_turn|"finish_reason":"/);
    expect(await front.upstream('desk')).toMatchObject({
      health: 'failing',
      reason: 'It aborted its answer.',
    });
  });

  it.each(APIS)('a plain answer of %s is an error', async (path, body) => {
    const message = { role: 'assistant', content: 'half' };
    desk.respondWith(() =>
      json(200, { choices: [{ index: 0, text: 'half', message, finish_reason }], ...more }),
    );
    const response = await front.send('POST', path, { body: { model: 'm', ...body } });
    expect(response.status).toBe(502);
    expect(response.text).toContain('stopped before its answer was complete');
  });
});
