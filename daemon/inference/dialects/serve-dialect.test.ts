import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ask, post, readAll, until } from '../testing/client.ts';
import { CHAT, closeAfterEach, delta, held, SSE, setUp } from '../testing/forwarding.ts';

closeAfterEach();

const RESPONSES = '/v1/responses';
const MESSAGES = '/v1/messages';
const COUNT = '/v1/messages/count_tokens';
const hi = [{ role: 'user', content: 'hi' }];
const BODIES = {
  [RESPONSES]: { model: 'agent', input: 'hi' },
  [MESSAGES]: { model: 'agent', max_tokens: 9, messages: hi },
} as const;
type Path = keyof typeof BODIES;
const PATHS = Object.keys(BODIES) as Path[];
const JSON_TYPE = { 'content-type': 'application/json' };

/** What an event stream tells, comments left out. */
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('event: '))
    .map(
      (block) => JSON.parse(block.split('\ndata: ')[1] ?? '') as { type: string } & Record<string, unknown>,
    );
const typesOf = (text: string) => eventsOf(text).map(({ type }) => type);
const chunk = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const finish = (reason: string) => chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });

async function streamed(path: Path, write: (engine: ServerResponse) => void) {
  const { gateway, got } = await held();
  const { head } = ask(gateway.origin, path, JSON.stringify({ ...BODIES[path], stream: true }));
  await until(() => got.length === 1);
  got[0]?.writeHead(200, SSE);
  write(got[0] as ServerResponse);
  return { gateway, answer: await readAll(await head) };
}

describe.each(PATHS)('%s', (path) => {
  test('is the chat that it means: address, body, credentials, headers, log', async () => {
    const seen: { url?: string; body: string; headers: object }[] = [];
    const { gateway, slots } = await setUp(async (req, res) => {
      let body = '';
      for await (const part of req) body += part;
      seen.push({ url: req.url, body, headers: req.headers });
      res.writeHead(200, JSON_TYPE);
      res.end(
        '{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4}}',
      );
    });
    const secret = { authorization: 'Bearer secret', 'x-api-key': 'secret' };
    const answer = await post(gateway.origin, `${path}?beta=true&api_key=secret`, BODIES[path], secret);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'x-svc-slot': 'agent', 'x-svc-model': 'qwen' });
    expect(JSON.parse(answer.body)).toMatchObject({ model: 'qwen', usage: { output_tokens: 4 } });
    expect(seen).toMatchObject([{ url: CHAT, headers: { authorization: 'Bearer engine-key' } }]);
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ model: 'qwen', messages: hi });
    expect(JSON.stringify(seen)).not.toContain('secret');
    expect(slots.released).toBe(1);
    expect(gateway.log).toMatchObject([{ route: path, slot: 'agent', status: 200, completion_tokens: 4 }]);
  });

  test('a stream is told as it is made', async () => {
    const { gateway, got } = await held();
    const { head } = ask(gateway.origin, path, JSON.stringify({ ...BODIES[path], stream: true }));
    await until(() => got.length === 1);
    got[0]?.writeHead(200, SSE);
    got[0]?.write(delta('one'));
    const res = await head;
    let text = '';
    res.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    await until(() => text.includes('"one"'));
    expect(text).not.toContain('two');
    got[0]?.end(`${delta('two')}${finish('stop')}data: [DONE]\n\n`);
    await until(() => res.complete);
    expect(typesOf(text).at(-1)).toBe(path === RESPONSES ? 'response.completed' : 'message_stop');
    expect(gateway.log).toMatchObject([{ status: 200, error: null }]);
  });

  test('a caller that leaves ends the work of the engine', async () => {
    const { gateway, got, engine, slots } = await held();
    const { req, head } = ask(gateway.origin, path, JSON.stringify({ ...BODIES[path], stream: true }));
    head.then((res) => res.on('error', () => {})).catch(() => {});
    await until(() => got.length === 1);
    got[0]?.writeHead(200, SSE);
    got[0]?.write(delta('one'));
    await head;
    req.destroy();
    await until(() => engine.sockets.size === 0 && slots.released === 1);
    await until(() => gateway.log.length === 1);
    expect(gateway.log).toMatchObject([{ status: 499, error: 'client_closed' }]);
  });

  test('before the head too', async () => {
    const { gateway, got, engine } = await held();
    const { req } = ask(gateway.origin, path, JSON.stringify(BODIES[path]));
    req.on('error', () => {});
    await until(() => got.length === 1);
    req.destroy();
    await until(() => engine.sockets.size === 0);
  });

  test('a slow caller slows the engine down', async () => {
    const block = delta('x'.repeat(64 * 1024));
    let sent = 0;
    let full = false;
    const { gateway } = await setUp((req, res) => {
      req.resume();
      res.writeHead(200, SSE);
      const pump = () => {
        while (!res.destroyed) {
          sent += block.length;
          if (res.write(block)) continue;
          full = true;
          res.once('drain', pump);
          return;
        }
      };
      pump();
    });
    const { req, head } = ask(gateway.origin, path, JSON.stringify({ ...BODIES[path], stream: true }));
    const res = await head;
    res.on('error', () => {});
    res.pause();
    await until(() => full);
    let before = -1;
    await until(() => {
      const still = before === sent;
      before = sent;
      return still;
    });
    expect(sent).toBeLessThan(30 * 1024 * 1024);
    req.destroy();
  });

  test('errors of the engine keep status and words', async () => {
    const { gateway } = await setUp((req, res) => {
      req.resume();
      res.writeHead(422, JSON_TYPE);
      res.end('{"error":{"message":"no such grammar","code":"bad_grammar"}}');
    });
    const answer = await post(gateway.origin, path, BODIES[path]);
    expect(answer.status).toBe(422);
    const error = { message: 'no such grammar', code: 'bad_grammar' };
    expect(JSON.parse(answer.body)).toEqual(path === MESSAGES ? { type: 'error', error } : { error });
  });

  test.each([
    ['no JSON', 'hello'],
    ['a list', '[1]'],
  ])('%s is told as a failure of the engine', async (_, text) => {
    const { gateway } = await setUp((req, res) => {
      req.resume();
      res.writeHead(200, JSON_TYPE);
      res.end(text);
    });
    const answer = await post(gateway.origin, path, BODIES[path]);
    expect(answer.status).toBe(502);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'upstream.error' } });
  });
});

const LAST = { [RESPONSES]: ['response.failed', 'error'], [MESSAGES]: ['error'] } as const;

describe.each(PATHS)('%s: a stream that goes wrong', (path) => {
  test.each<[string, (engine: ServerResponse) => void, string]>([
    [
      'the engine dies',
      (engine) => void engine.write(delta('one'), () => engine.destroy()),
      'dispatch.upstream_unavailable',
    ],
    ['it ends without an end', (engine) => void engine.end(delta('one')), 'upstream.error'],
    [
      'an event is no JSON',
      (engine) => void engine.write(`${delta('one')}data: {oops\n\n`),
      'upstream.error',
    ],
    [
      'it tells an error',
      (engine) => void engine.end(`${delta('one')}data: {"error":{"code":"oom","message":"no memory"}}\n\n`),
      'oom',
    ],
    [
      'it goes back to a call',
      (engine) =>
        void engine.write(
          [0, 1, 0]
            .map((index) => ({ index, id: `c${index}`, function: { name: 'f', arguments: '{' } }))
            .map((call) => chunk({ choices: [{ index: 0, delta: { tool_calls: [call] } }] }))
            .join(''),
        ),
      'upstream.error',
    ],
  ])('%s', async (_, write, code) => {
    const { answer } = await streamed(path, write);
    const events = eventsOf(answer.body);
    const last = LAST[path];
    expect(events.slice(-last.length).map(({ type }) => type)).toEqual(last);
    expect(answer.whole).toBe(true);
    const error = events.at(-1);
    expect(path === RESPONSES ? error?.code : (error?.error as { code: string } | undefined)?.code).toBe(
      code,
    );
    expect(events.filter(({ type }) => type === 'response.completed' || type === 'message_stop')).toEqual([]);
  });
});

test('what a long load says while it lasts reaches callers of both', async () => {
  const { gateway, slots, got } = await held();
  let ready = () => {};
  slots.before = async (_, options) => {
    options.onDecided?.();
    await new Promise<void>((done) => {
      ready = done;
    });
  };
  for (const path of PATHS) {
    const count = got.length;
    const { head } = ask(gateway.origin, path, JSON.stringify({ ...BODIES[path], stream: true }));
    const res = await head;
    let text = '';
    res.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    await until(() => text.includes(path === MESSAGES ? 'event: ping' : ': waiting'));
    ready();
    await until(() => got.length > count);
    got.at(-1)?.writeHead(200, SSE);
    got.at(-1)?.end(`${delta('one')}${finish('length')}data: [DONE]\n\n`);
    await until(() => res.complete);
    expect(
      typesOf(text).filter((type) => type === 'response.created' || type === 'message_start'),
    ).toHaveLength(1);
    expect(text).toContain(path === MESSAGES ? '"stop_reason":"max_tokens"' : '"reason":"max_output_tokens"');
  }
}, 20_000);

describe('counting', () => {
  const body = { model: 'agent', messages: hi };

  test('asks the engine, and tells its number', async () => {
    const urls: (string | undefined)[] = [];
    const { gateway } = await setUp((req, res) => {
      urls.push(req.url);
      req.resume();
      res.writeHead(200, JSON_TYPE);
      res.end('{"object":"response.input_tokens","input_tokens":42}');
    });
    const answer = await post(gateway.origin, COUNT, body);
    expect([answer.status, answer.body]).toEqual([200, '{"input_tokens":42}']);
    expect(urls).toEqual([`${CHAT}/input_tokens`]);
  });

  test('an engine with a place of its own for it is asked there', async () => {
    const urls: (string | undefined)[] = [];
    const { gateway, slots } = await setUp((req, res) => {
      urls.push(req.url);
      req.resume();
      res.writeHead(200, JSON_TYPE);
      res.end('{"count":7,"max_model_len":4096,"tokens":[1,2]}');
    });
    slots.dialect = { countPath: '/tokenize' };
    expect((await post(gateway.origin, COUNT, body)).body).toBe('{"input_tokens":7}');
    expect(urls).toEqual(['/tokenize']);
  });

  test.each([401, 403, 404, 405, 501])(
    'an engine that answers %i cannot count, and nobody guesses',
    async (status) => {
      const { gateway } = await setUp((req, res) => {
        req.resume();
        res.writeHead(status, JSON_TYPE);
        res.end('{"error":{"code":null,"message":"what?"}}');
      });
      const answer = await post(gateway.origin, COUNT, body);
      expect(answer.status).toBe(409);
      expect(JSON.parse(answer.body)).toMatchObject({
        error: { code: 'dispatch.capability_mismatch', message: expect.stringContaining('cannot count') },
      });
    },
  );

  test.each(['{}', '{"input_tokens":"many"}', '{"input_tokens":1.5}'])('%s is no count', async (text) => {
    const { gateway } = await setUp((req, res) => {
      req.resume();
      res.writeHead(200, JSON_TYPE);
      res.end(text);
    });
    expect((await post(gateway.origin, COUNT, body)).status).toBe(502);
  });
});

/** A chat with everything in it: thoughts, text, two calls, counts. */
const RICH = [
  chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }),
  chunk({ choices: [{ index: 0, delta: { reasoning_content: 'hm €' } }] }),
  ': ping\n\n',
  delta('two '),
  delta('words'),
  chunk({
    choices: [
      {
        index: 0,
        delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"z"' } }] },
      },
    ],
  }),
  chunk({ choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }] }),
  chunk({
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 1, id: 'b', function: { name: 'g', arguments: '' } }] } },
    ],
  }),
  finish('tool_calls'),
  chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 5 } }),
  'data: [DONE]\n\n',
].join('');

const part = (name: string, deltas = 1) => [
  'response.output_item.added',
  'response.content_part.added',
  ...Array.from({ length: deltas }, () => `response.${name}.delta`),
  `response.${name}.done`,
  'response.content_part.done',
  'response.output_item.done',
];
const block = (deltas: number) => [
  'content_block_start',
  ...Array.from({ length: deltas }, () => 'content_block_delta'),
  'content_block_stop',
];
const CALL = 'response.function_call_arguments';
const CALL_ITEM = ['response.output_item.added', `${CALL}.done`, 'response.output_item.done'];

/** What is told of it; thoughts end with a delta of their signature. */
const TOLD: Readonly<Record<Path, readonly string[]>> = {
  [RESPONSES]: [
    ...['response.created', 'response.in_progress'],
    ...part('reasoning_text'),
    ...part('output_text', 2),
    ...CALL_ITEM.toSpliced(1, 0, `${CALL}.delta`, `${CALL}.delta`),
    ...CALL_ITEM,
    'response.completed',
  ],
  [MESSAGES]: [
    ...['message_start', 'ping'],
    ...block(2).toSpliced(2, 0, 'ping'),
    ...block(2),
    ...block(2),
    ...block(0),
    ...['message_delta', 'message_stop'],
  ],
};

/** Ids and times are new each time. */
const plain = (text: string) =>
  text
    .replace(/"(resp|msg|rs|fc)_[0-9a-f]{32}"/g, '"$1"')
    .replace(/"(created|completed)_at":\d+/g, '"$1_at":0');

test.each(PATHS)('%s: however the engine cuts its stream, the caller is told the same', async (path) => {
  let cuts: number[] = [];
  const bytes = Buffer.from(RICH);
  const { gateway } = await setUp((req, res) => {
    req.resume();
    res.writeHead(200, SSE);
    const at = [0, ...cuts, bytes.length];
    const parts = at.slice(1).map((end, i) => bytes.subarray(at[i], end));
    const next = () => {
      const part = parts.shift();
      if (part === undefined) return void res.end();
      res.write(part, () => setImmediate(next));
    };
    next();
  });
  const body = { ...BODIES[path], stream: true };
  const whole = plain((await post(gateway.origin, path, body)).body);
  expect(typesOf(whole)).toEqual(TOLD[path]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (some) => {
      cuts = some.sort((a, b) => a - b);
      expect(plain((await post(gateway.origin, path, body)).body)).toBe(whole);
    }),
    { numRuns: 25 },
  );
});
