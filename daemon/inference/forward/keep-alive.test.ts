import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { post, send, until } from '../testing/client.ts';
import { BODIES, chunk, finish, MESSAGES } from '../testing/dialects.ts';
import {
  CHAT,
  closeAfterEach,
  closers,
  delta,
  hello,
  SSE,
  startWithManualEngine,
} from '../testing/forwarding.ts';
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

/** What the engine has sent before it is silent. */
const SENT: Readonly<Record<string, readonly string[]>> = {
  nothing: [],
  'its head': [''],
  'a token': [delta('zero')],
  'a thought': [chunk({ choices: [{ index: 0, delta: { reasoning_content: 'hm' } }] })],
  'a half call': [
    chunk({
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{"a"' } }] },
        },
      ],
    }),
  ],
  'a role': [chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] })],
  'its own comment': [': processing\n\n'],
};
const REST: Readonly<Record<string, string>> = {
  'a half call': chunk({
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }],
  }),
};
const CASES: readonly { path: AnyPath; sent: string }[] = ALL_PATHS.flatMap((path) =>
  // A completion has text only.
  Object.keys(SENT)
    .filter((sent) => path !== '/v1/completions' || !/thought|call|role/.test(sent))
    .map((sent) => ({ path, sent })),
);

describe('a silent engine', () => {
  /** All at once: each takes as long as the silence that is filled. */
  const states = new Map<string, Awaited<ReturnType<typeof listenTo>>['state']>();
  const keyOf = ({ path, sent }: { path: string; sent: string }) => `${path} ${sent}`;
  beforeAll(async () => {
    const { gateway, responses } = await startWithManualEngine();
    close.push(...closers.splice(0));
    const engines: [ServerResponse, string][] = [];
    for (const each of CASES) {
      const { state, engine } = await listenTo(gateway.origin, each.path, responses);
      const parts = SENT[each.sent] ?? [];
      if (parts.length > 0) engine.writeHead(200, SSE).flushHeaders();
      for (const part of parts) if (part !== '') engine.write(part);
      states.set(keyOf(each), state);
      engines.push([engine, each.sent]);
    }
    const hasKeepAlive = (path: AnyPath, text: string): boolean =>
      path === MESSAGES ? text.split('event: ping').length > 2 : text.includes(': waiting');
    await until(
      () => CASES.every((each) => hasKeepAlive(each.path, states.get(keyOf(each))?.text ?? '')),
      LIMIT_MS + 5_000,
    );
    for (const [engine, sent] of engines) {
      if (!engine.headersSent) engine.writeHead(200, SSE);
      engine.end(`${REST[sent] ?? ''}${END}`);
    }
    await until(() => [...states.values()].every(({ done }) => done));
  }, 60_000);
  const close: (() => unknown)[] = [];
  afterAll(async () => {
    for (const each of close.reverse()) await each();
  });

  test.each(CASES)('that has sent $sent is covered by keep-alives on $path, which break nothing', (each) => {
    const { times, text } = states.get(keyOf(each)) as { times: number[]; text: string };
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(LIMIT_MS);
    expect(text).toMatch(/\[DONE\]|message_stop|response\.completed/);
    expect(text).not.toMatch(/event: error|response\.failed|"error":\{/);
  });
});

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
