import { EventEmitter } from 'node:events';
import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { portOf } from '../../lib/testing/listening.ts';
import type { InternalCall } from '../internal.ts';
import { until } from '../testing/client.ts';
import { createRealtime, type RealtimeDeps } from './realtime.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

/**
 * One event of a streamed chat and its size: kernels buffer up to about forty megabytes for a caller that
 * does not read.
 */
const TEXT = 'x'.repeat(100_000);
const chunk = Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content: TEXT } }] })}\n\n`);

/** Sessions over real sockets. The stages are a stand-in that writes without end and counts. */
async function open(more: Partial<RealtimeDeps> = {}) {
  const stats = { sent: 0, calls: [] as InternalCall[] };
  async function* endless() {
    for (;;) {
      stats.sent += chunk.length;
      yield chunk;
      await new Promise(setImmediate);
    }
  }
  const realtime = createRealtime({
    inference: {
      hasName: () => false,
      explain: ({ path }) =>
        ({ error: null, slot: path.endsWith('speech') ? null : 'agent', upstream: null }) as never,
      internal: async (call) => {
        stats.calls.push(call);
        return { status: 200, headers: {}, body: endless(), inBandError: () => null, abort: () => {} };
      },
    },
    log: pino({ level: 'silent' }),
    ...more,
  });
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', allowSynchronousEvents: false });
  await new Promise((done) => server.once('listening', done));
  server.on('connection', (socket, { url }) =>
    realtime.serve(socket, {
      tier: url === '/admin' ? 'admin' : 'client',
      model: null,
      transcription: false,
    }),
  );
  closers.push(() => server.close());
  const call = async (path = '/') => {
    const socket = new WebSocket(`ws://127.0.0.1:${portOf(server)}${path}`);
    closers.push(() => socket.terminate());
    const events: { type: string; error?: { code: string } }[] = [];
    const over = { code: 0 };
    socket.on('message', (data) => events.push(JSON.parse(data.toString())));
    socket.on('close', (code) => (over.code = code));
    await until(() => events.length > 0 || over.code !== 0);
    return { socket, events, over };
  };
  return { call, stats, server };
}

test('without a voice the session uses text', async () => {
  const { call } = await open();
  expect((await call()).events[0]).toMatchObject({ session: { output_modalities: ['text'] } });
});

/** The decision of a gateway that serves `qwen` and `agent`. */
const decisions: RealtimeDeps['inference']['explain'] = ({ path, model }) => {
  const known = path.endsWith('chat/completions') && ['qwen', 'agent'].includes(model ?? '');
  const code = model === 'embed' ? 'dispatch.capability_mismatch' : 'dispatch.no_route';
  const error = known ? null : { code, message: `Nothing serves ${model}.` };
  return { error: model === 'down' ? { code: 'slot.failed', message: 'x' } : error, slot: 'agent' } as never;
};
const accept = (model: string | null, transcription = false) => {
  const inference = {
    explain: decisions,
    hasName: (name: string) => name === 'gpt-realtime-mini',
    internal: () => Promise.reject(new Error('not called')),
  };
  const realtime = createRealtime({ inference, log: pino({ level: 'silent' }) });
  const socket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    bufferedAmount: 0,
    send: () => {},
    close: () => {},
  });
  realtime.serve(socket as never, { tier: 'client', model, transcription });
  socket.emit('close');
};

test.each([null, 'qwen', 'agent', 'gpt-realtime', 'gpt-4o-realtime-preview', 'down'])(
  'a session with the model %s is accepted',
  (model) => expect(() => accept(model)).not.toThrow(),
);

test.each([
  ['other', false, 'dispatch.no_route'],
  ['embed', false, 'dispatch.capability_mismatch'],
  ['gpt-4o', false, 'dispatch.no_route'],
  ['other', true, 'dispatch.no_route'],
])('the model %s is refused at the connect (transcription: %s)', (model, transcription, code) => {
  expect(() => accept(model, transcription)).toThrow(
    expect.objectContaining({
      code,
      message: `Nothing serves ${model}.`,
      options: { message: expect.any(String), param: 'model' },
    }),
  );
});

test('an event above 21 MiB is an error event, and the session lives', async () => {
  const { call } = await open();
  const { socket, events, over } = await call();
  socket.send(Buffer.alloc((21 << 20) + 1, 'x'));
  await until(() => events.length > 1);
  expect(events[1]).toMatchObject({ type: 'error', error: { code: 'event_too_large' } });
  socket.send(JSON.stringify({ type: 'input_audio_buffer.clear' }));
  await until(() => events.length > 2);
  expect([events[2]?.type, over.code]).toEqual(['input_audio_buffer.cleared', 0]);
});

test('W01 closes an idle session', async () => {
  const { call } = await open({ idleMs: 40 });
  const { over } = await call();
  await until(() => over.code !== 0);
  expect(over.code).toBe(4408);
});

test('refuses sessions above the limit within the protocol, and accepts one after another has closed', async () => {
  const { call } = await open({ maxSessions: 1, adminReserve: 0 });
  const first = await call();
  const second = await call();
  expect(second.events[0]).toMatchObject({ type: 'error', error: { code: 'realtime.too_many' } });
  await until(() => second.over.code !== 0);
  expect(second.over.code).toBe(1013);
  first.socket.close();
  await until(() => first.over.code !== 0);
  expect((await call()).events[0]).toMatchObject({ type: 'session.created' });
});

test('W03 reserves sessions for admins', async () => {
  const { call } = await open({ maxSessions: 3, adminReserve: 1 });
  for (let index = 0; index < 2; index++)
    expect((await call()).events[0]).toMatchObject({ type: 'session.created' });
  const refused = await call();
  expect(refused.events[0]).toMatchObject({ type: 'error', error: { code: 'realtime.too_many' } });
  await until(() => refused.over.code !== 0);
  expect(refused.over.code).toBe(1013);
  expect((await call('/admin')).events[0]).toMatchObject({ type: 'session.created' });
  expect((await call('/admin')).events[0]).toMatchObject({ error: { code: 'realtime.too_many' } });
});

test('W03 a client key may use 48 of the default 64 sessions', async () => {
  const { call } = await open();
  for (let index = 0; index < 48; index++)
    expect((await call()).events[0]).toMatchObject({ type: 'session.created' });
  expect((await call()).events[0]).toMatchObject({ error: { code: 'realtime.too_many' } });
  expect((await call('/admin')).events[0]).toMatchObject({ type: 'session.created' });
});

test('a response that is cancelled immediately calls no model', async () => {
  const { call, stats } = await open();
  const { socket, events } = await call();
  for (let turn = 0; turn < 50; turn++)
    for (const type of ['response.create', 'response.cancel']) socket.send(JSON.stringify({ type }));
  await until(() => events.filter(({ type }) => type === 'response.done').length === 50);
  expect(stats.calls.length).toBeLessThan(25);
  socket.send(JSON.stringify({ type: 'response.create' }));
  await until(() => stats.sent > 0);
});

/** A caller who requested a response and does not read it. */
async function openWithSlowReader() {
  const { call, stats, server } = await open();
  const { socket } = await call();
  socket.send(JSON.stringify({ type: 'response.create' }));
  await until(() => stats.sent > 0);
  socket.pause();
  const served = [...server.clients][0] as WebSocket;
  await until(() => served.bufferedAmount > 1024 * 1024, 20_000);
  return { socket, stats, served };
}

test('a caller that does not read slows the model down, and its disconnect ends the work', async () => {
  const { socket, stats, served } = await openWithSlowReader();
  const sentBefore = stats.sent;
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  expect(stats.sent - sentBefore).toBeLessThan(20 * chunk.length);
  expect(served.bufferedAmount).toBeLessThan(2 * 1024 * 1024);
  const [call] = stats.calls;
  expect([call?.tier, call?.path]).toEqual(['client', '/v1/chat/completions']);
  socket.terminate();
  await until(() => call?.signal.aborted === true);
});

test('a paused response ends at once when cancelled', async () => {
  const { socket, stats } = await openWithSlowReader();
  socket.send(JSON.stringify({ type: 'response.cancel' }));
  await until(() => stats.calls[0]?.signal.aborted === true);
  const sentBefore = stats.sent;
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
  expect(stats.sent).toBe(sentBefore);
});

test('W01 stops reading from a caller that floods and does not read', async () => {
  const { call, server } = await open();
  const { socket } = await call();
  socket.pause();
  const served = [...server.clients][0] as WebSocket;
  const content = [{ type: 'input_text', text: 'x'.repeat(50_000) }];
  const item = { type: 'message', role: 'user', id: 'long', content };
  socket.send(JSON.stringify({ type: 'conversation.item.create', item }));
  const noise = JSON.stringify({ type: 'conversation.item.retrieve', item_id: item.id });
  const flood = setInterval(() => {
    for (let count = 0; count < 20; count++) socket.send(noise);
  }, 1);
  await until(() => served.isPaused, 25_000);
  clearInterval(flood);
  expect(served.bufferedAmount).toBeLessThan(8 * 1024 * 1024);
});
