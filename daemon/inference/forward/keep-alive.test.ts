import type { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { post, send, until } from '../testing/client.ts';
import { BODIES, finish, MESSAGES } from '../testing/dialects.ts';
import { CHAT, closeAfterEach, delta, hello, SSE, startWithManualEngine } from '../testing/forwarding.ts';
import { KEEP_ALIVE_MS, ResponseWriter } from './response-writer.ts';

closeAfterEach();

const BODY = { [CHAT]: hello, '/v1/completions': { model: 'agent', prompt: 'hi' }, ...BODIES };
type AnyPath = keyof typeof BODY;
const ALL_PATHS = Object.keys(BODY) as AnyPath[];

/** The longest silence that the specification allows, and time for a busy machine. */
const LIMIT_MS = 15_000;
const END = `${delta('one')}${finish('stop')}data: [DONE]\n\n`;

/** Sends a streaming request and records when bytes arrive. */
async function listenTo(origin: string, path: AnyPath, responses: ServerResponse[]) {
  const before = responses.length;
  const { head } = send(origin, path, JSON.stringify({ ...BODY[path], stream: true }));
  const state = { text: '', times: [performance.now()], done: false };
  void head.then((res) => {
    res.setEncoding('utf8').on('data', (part: string) => {
      state.text += part;
      state.times.push(performance.now());
    });
    res.once('end', () => {
      state.done = true;
    });
  });
  await until(() => responses.length > before);
  return { state, engine: responses.at(-1) as ServerResponse };
}

test('silence before the head and after it is filled on all four APIs; comments never break a stream', async () => {
  const { gateway, responses } = await startWithManualEngine();
  const cases: ({ path: AnyPath; at: string } & Awaited<ReturnType<typeof listenTo>>)[] = [];
  for (const path of ALL_PATHS) {
    for (const at of ['before the head', 'after the head', 'after a token'] as const) {
      const { state, engine } = await listenTo(gateway.origin, path, responses);
      if (at !== 'before the head') engine.writeHead(200, SSE).flushHeaders();
      if (at === 'after a token') engine.write(delta('zero'));
      cases.push({ path, at, state, engine });
    }
  }
  const hasKeepAlive = (path: AnyPath, text: string): boolean =>
    path === MESSAGES ? text.split('event: ping').length > 2 : text.includes(': waiting');
  await until(() => cases.every(({ path, state }) => hasKeepAlive(path, state.text)), LIMIT_MS + 5_000);
  for (const { engine } of cases) {
    if (!engine.headersSent) engine.writeHead(200, SSE);
    engine.end(END);
  }
  await until(() => cases.every(({ state }) => state.done));
  for (const { path, at, state } of cases) {
    const gaps = state.times.slice(1).map((time, index) => time - (state.times[index] ?? 0));
    expect(Math.max(...gaps), `${path} ${at}`).toBeLessThan(LIMIT_MS);
    expect(state.text, `${path} ${at}`).toMatch(/\[DONE\]|message_stop|response\.completed/);
    expect(state.text).not.toMatch(/event: error|response\.failed|"error":\{/);
  }
}, 60_000);

test('an error after a keep-alive is an error event, and a caller without a stream gets no bytes before', async () => {
  const { gateway, responses } = await startWithManualEngine();
  const { state, engine } = await listenTo(gateway.origin, CHAT, responses);
  const plain = post(gateway.origin, CHAT, hello);
  await until(() => responses.length === 2);
  await until(() => state.text.includes(': waiting'), LIMIT_MS + 5_000);
  for (const res of [engine, responses[1]]) {
    res?.writeHead(429, { 'content-type': 'application/json' });
    res?.end('{"error":{"message":"slow down","code":"rate_limit_exceeded"}}');
  }
  await until(() => state.done);
  expect(state.text).toMatch(/: waiting\n\ndata: \{"error":\{"message":"slow down".*\n\n$/);
  expect((await plain).status).toBe(429);
}, 60_000);

test('the timer measures silence, and ends with the response', () => {
  vi.useFakeTimers();
  try {
    const written: string[] = [];
    const res = {
      writableLength: 0,
      destroyed: false,
      writeHead: () => {},
      flushHeaders: () => {},
      once: () => {},
      write: (text: string | Buffer) => written.push(String(text)) > 0,
      end: (text?: string) => written.push(String(text)),
    };
    const writer = new ResponseWriter({ res: res as never, onFirstByte: () => {}, stallMs: 1_000 });
    writer.begin(200, { 'content-type': 'text/event-stream' });
    writer.startKeepAlive(performance.now());
    vi.advanceTimersByTime(KEEP_ALIVE_MS - 1_000);
    writer.write(Buffer.from(delta('a')));
    vi.advanceTimersByTime(KEEP_ALIVE_MS - 1_000);
    expect(written).toEqual([delta('a')]);
    vi.advanceTimersByTime(2_000);
    expect(written).toEqual([delta('a'), ': waiting\n\n']);
    writer.write(Buffer.from('data: {"half'));
    vi.advanceTimersByTime(3 * KEEP_ALIVE_MS);
    expect(written).toHaveLength(3);
    writer.write(Buffer.from('"}\n\n'));
    vi.advanceTimersByTime(KEEP_ALIVE_MS + 1_000);
    expect(written.at(-1)).toBe(': waiting\n\n');
    writer.finish();
    expect(vi.getTimerCount()).toBe(0);
    const unused = new ResponseWriter({ res: res as never, onFirstByte: () => {}, stallMs: 1_000 });
    unused.startKeepAlive(performance.now());
    unused.dispose();
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
