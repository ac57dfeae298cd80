import { expect, test } from 'vitest';
import { GatewayError } from '../contract/errors.ts';
import type { InferenceCall } from './call-context.ts';
import { callInternally, type InternalCall, type InternalReply } from './internal.ts';
import { eventsOf, wholeBytes, wholeJson } from './internal-read.ts';
import { chat as chatOfVoice } from './realtime/stages.ts';
import type { TaskName } from './tasks.ts';
import { until } from './testing/client.ts';
import {
  CHAT,
  closeAfterEach,
  delta,
  hello,
  SSE,
  setUp,
  startWithManualEngine,
} from './testing/forwarding.ts';

closeAfterEach();

const call = (more: Partial<InternalCall> = {}): InternalCall => ({
  id: 'inside-1',
  path: CHAT,
  tier: 'client',
  body: Buffer.from(JSON.stringify(hello)),
  signal: new AbortController().signal,
  ...more,
});

const streamCall = (more: Partial<InternalCall> = {}): InternalCall =>
  call({ body: Buffer.from(JSON.stringify({ ...hello, stream: true })), ...more });

async function failure(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw error;
  return error;
}

const collected = async (events: AsyncIterable<unknown>) => {
  const all: unknown[] = [];
  for await (const event of events) all.push(event);
  return all;
};

test('an internal call passes alias, lease, engine key, log and metrics', async () => {
  const received: { body: string; key: string | undefined }[] = [];
  const { gateway, slots } = await setUp(async (req, res) => {
    const parts: Buffer[] = [];
    for await (const part of req) parts.push(part as Buffer);
    received.push({ body: Buffer.concat(parts).toString(), key: req.headers.authorization });
    res.setHeader('content-type', 'application/json');
    res.end('{"ok":true,"usage":{"prompt_tokens":3,"completion_tokens":4}}');
  });
  const answer = await gateway.inference.internal(call());
  expect(answer).toMatchObject({ status: 200, headers: { 'x-svc-slot': 'agent', 'x-svc-model': 'qwen' } });
  expect(await wholeJson(answer, 1000)).toMatchObject({ ok: true });
  expect(received).toMatchObject([{ key: 'Bearer engine-key' }]);
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({ ...hello, model: 'qwen' });
  expect([slots.leased, slots.released]).toEqual([1, 1]);
  expect(gateway.log).toMatchObject([
    { id: 'inside-1', route: CHAT, tier: 'client', slot: 'agent', status: 200, completion_tokens: 4 },
  ]);
  expect(gateway.finished).toHaveLength(1);
});

test('a stream arrives as it is produced, and its events are read', async () => {
  const { gateway, responses } = await startWithManualEngine();
  const reply = gateway.inference.internal(streamCall());
  await until(() => responses.length === 1);
  const engine = responses[0];
  engine?.writeHead(200, SSE);
  engine?.write(delta('one'));
  const events = eventsOf(await reply);
  expect((await events.next()).value).toMatchObject({ choices: [{ delta: { content: 'one' } }] });
  engine?.end(`${delta('two')}data: [DONE]\n\n`);
  expect(await collected(events)).toHaveLength(1);
});

test('refusals before the engine and errors of the engine keep code and status', async () => {
  const { gateway } = await setUp((_, res) => {
    res.writeHead(422, { 'content-type': 'application/json' });
    res.end('{"error":{"message":"no such grammar","code":"bad_grammar"}}');
  });
  const unknownModel = Buffer.from(JSON.stringify({ ...hello, model: 'unknown' }));
  const unknown = await failure(gateway.inference.internal(call({ body: unknownModel })));
  expect([unknown.code, unknown.status]).toEqual(['dispatch.no_route', 404]);
  const answer = await gateway.inference.internal(call());
  expect(answer.status).toBe(422);
  const gatewayError = await failure(wholeJson(answer, 1000));
  expect([gatewayError.code, gatewayError.status, gatewayError.message]).toEqual([
    'upstream.error',
    422,
    'no such grammar',
  ]);
  expect(gatewayError.options.details).toEqual({ code: 'bad_grammar' });
});

/** A stream of which something has arrived. */
async function startedStream() {
  const { gateway, responses } = await startWithManualEngine();
  const reply = gateway.inference.internal(streamCall());
  await until(() => responses.length === 1);
  responses[0]?.writeHead(200, SSE);
  responses[0]?.write(delta('one'));
  const events = eventsOf(await reply);
  await events.next();
  return { gateway, responses, events };
}

test('an engine crash in mid-stream is an error after the received events', async () => {
  const { responses, events } = await startedStream();
  responses[0]?.destroy();
  expect((await failure(events.next())).code).toBe('dispatch.upstream_unavailable');
});

test('a stream without an end marker is an error, and so is a complete response instead', async () => {
  const { gateway, responses } = await startWithManualEngine();
  const reply = gateway.inference.internal(streamCall());
  await until(() => responses.length === 1);
  responses[0]?.writeHead(200, { ...SSE, connection: 'close' });
  responses[0]?.end(delta('one'));
  expect((await failure(collected(eventsOf(await reply)))).code).toBe('upstream.error');
  const whole = gateway.inference.internal(call());
  await until(() => responses.length === 2);
  responses[1]?.setHeader('content-type', 'application/json');
  responses[1]?.end('{"choices":[{"message":{"content":"one"}}]}');
  expect((await failure(collected(eventsOf(await whole)))).code).toBe('upstream.error');
});

test('a gateway failure in mid-stream keeps its retry hints', async () => {
  const { gateway, events } = await startedStream();
  const [gatewayError] = await Promise.all([failure(events.next()), gateway.inference.stop()]);
  expect([gatewayError.code, gatewayError.headers()]).toEqual(['gateway.stopping', { 'retry-after': '5' }]);
});

test('an incomplete body never counts as complete', async () => {
  const { gateway, responses } = await startWithManualEngine();
  const reply = gateway.inference.internal(call());
  await until(() => responses.length === 1);
  responses[0]?.writeHead(200, { 'content-type': 'audio/pcm' });
  responses[0]?.write('half');
  const answer = await reply;
  responses[0]?.destroy();
  expect((await failure(wholeBytes(answer, 1000))).code).toBe('dispatch.upstream_unavailable');
});

test.each(['before the head', 'in mid-stream'] as const)(
  'an abort %s ends the engine at once',
  async (at) => {
    const { gateway, responses, engine, slots } = await startWithManualEngine();
    const control = new AbortController();
    const reply = gateway.inference.internal(streamCall({ signal: control.signal }));
    reply.catch(() => {});
    await until(() => responses.length === 1);
    const reason = new Error('the voice was interrupted');
    if (at === 'before the head') {
      control.abort(reason);
      await expect(reply).rejects.toBe(reason);
    } else {
      responses[0]?.writeHead(200, SSE);
      responses[0]?.write(delta('one'));
      const body = (await reply).body[Symbol.asyncIterator]();
      await body.next();
      control.abort(reason);
      await expect(body.next()).rejects.toBe(reason);
    }
    await until(() => engine.sockets.size === 0);
    await until(() => slots.released === 1);
    expect(gateway.log).toMatchObject([{ status: 499, error: 'client_closed' }]);
  },
);

test('a reader that stops also ends the engine', async () => {
  const { gateway, responses, engine } = await startWithManualEngine();
  const reply = gateway.inference.internal(streamCall());
  await until(() => responses.length === 1);
  responses[0]?.writeHead(200, SSE);
  responses[0]?.write(delta('one'));
  for await (const _ of (await reply).body) break;
  await until(() => engine.sockets.size === 0);
});

test('the engine is read no faster than the reply', async () => {
  const chunk = Buffer.alloc(64 * 1024);
  let sent = 0;
  let paused = false;
  const { gateway } = await setUp((_, res) => {
    res.writeHead(200, { 'content-type': 'audio/pcm' });
    const writeMore = () => {
      while (sent < 64 * 1024 * 1024) {
        sent += chunk.length;
        if (!res.write(chunk)) {
          paused = true;
          return void res.once('drain', writeMore);
        }
      }
      res.end();
    };
    writeMore();
  });
  const answer = await gateway.inference.internal(call());
  await until(() => paused);
  let before = -1;
  await until(() => {
    const isPaused = before === sent;
    before = sent;
    return isPaused;
  });
  expect(sent).toBeLessThan(32 * 1024 * 1024);
  const bytes = await wholeBytes(answer, 128 * 1024 * 1024);
  expect(bytes.length).toBe(64 * 1024 * 1024);
});

test('time and length limits are errors, not partial replies', async () => {
  const { gateway, responses } = await startWithManualEngine();
  const late = failure(gateway.inference.internal(call({ limitMs: 500 })));
  await until(() => responses.length === 1);
  expect((await late).code).toBe('dispatch.upstream_timeout');
  const reply = gateway.inference.internal(call());
  await until(() => responses.length === 2);
  responses[1]?.writeHead(200, { 'content-type': 'audio/pcm' });
  responses[1]?.end('four');
  expect((await failure(wholeBytes(await reply, 3))).code).toBe('upstream.error');
});

test.each([
  ['anon', 'auth.required'],
  ['client', null],
] as const)('under enforcement the route class applies: %s', async (tier, code) => {
  const settings = { requireAuth: true, adminKey: 'k' };
  const { gateway, slots } = await setUp((_, res) => void res.end('{}'), { settings });
  const reply = gateway.inference.internal(call({ tier }));
  if (code === null) expect((await reply).status).toBe(200);
  else expect((await failure(reply)).code).toBe(code);
  expect(slots.leased).toBe(code === null ? 1 : 0);
});

test('a cancel by an admin is reported', async () => {
  const { gateway, responses } = await startWithManualEngine();
  const reply = gateway.inference.internal(call());
  reply.catch(() => {});
  await until(() => responses.length === 1);
  expect(gateway.inference.cancel('inside-1')).toBe(true);
  expect((await failure(reply)).code).toBe('request.cancelled');
});

test.each([
  ['a line without an end', SSE, 200, (answer: InternalReply) => collected(eventsOf(answer))],
  [
    'an endless body',
    { 'content-type': 'text/plain' },
    502,
    (answer: InternalReply) => wholeBytes(answer, 1000),
  ],
])('S05 %s ends the call, and the log has the reason', async (_, head, status, read) => {
  const piece = Buffer.alloc(65_536, 0x61);
  const { gateway, engine } = await setUp((req, res) => {
    req.resume();
    res.writeHead(200, head);
    const more = () => {
      while (!res.destroyed && res.write(piece));
    };
    res.on('drain', more);
    more();
  });
  const answer = await gateway.inference.internal(head === SSE ? streamCall() : call());
  const gatewayError = await failure(read(answer));
  expect([gatewayError.code, gatewayError.message]).toEqual([
    'upstream.error',
    expect.stringContaining('too long'),
  ]);
  await until(() => engine.sockets.size === 0 && gateway.log.length === 1);
  expect(gateway.log).toMatchObject([{ status, error: 'upstream.error' }]);
});

test('the chat of live voice is marked as translated', async () => {
  const translatedFlags: (boolean | undefined)[] = [];
  const task = async ({ translated, res }: InferenceCall) => {
    translatedFlags.push(translated);
    res.writeHead(200, SSE);
    res.end(`${delta('a')}data: [DONE]\n\n`);
  };
  const values: Record<string, unknown> = { adminKey: '', requireAuth: false, memoryClass: 'client' };
  const settings = { value: (name: string) => values[name] } as never;
  const tasks = { chat: task } as unknown as Record<TaskName, typeof task>;
  const chatRequest = {
    model: 'm',
    instructions: '',
    items: [],
    tools: [],
    toolChoice: 'auto',
    maxOutputTokens: 9,
  };
  const deps = {
    internal: (each: InternalCall) => callInternally({ settings, tasks }, each),
    tier: 'client',
  };
  const { signal } = new AbortController();
  expect(await collected(chatOfVoice(deps as never, chatRequest as never, signal))).toHaveLength(1);
  expect(translatedFlags).toEqual([true]);
});
