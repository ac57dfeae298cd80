import { describe, expect, test } from 'vitest';
import type { InferenceCall } from '../call-context.ts';
import { InternalResponse } from '../internal-response.ts';
import { TASKS } from '../tasks.ts';
import { post, send, until } from '../testing/client.ts';
import {
  BODIES,
  COUNT,
  finish,
  hi,
  JSON_TYPE,
  MESSAGES,
  PATHS,
  RESPONSES,
  typesOf,
} from '../testing/dialects.ts';
import { CHAT, closeAfterEach, delta, SSE, setUp, startWithManualEngine } from '../testing/forwarding.ts';
import { serveDialect } from './serve-dialect.ts';

closeAfterEach();

describe.each(PATHS)('%s', (path) => {
  test('is the equivalent chat: path, body, credentials, headers, log', async () => {
    const requests: { url?: string; body: string; headers: object }[] = [];
    const { gateway, slots } = await setUp(async (req, res) => {
      let body = '';
      for await (const part of req) body += part;
      requests.push({ url: req.url, body, headers: req.headers });
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
    expect(requests).toMatchObject([{ url: CHAT, headers: { authorization: 'Bearer engine-key' } }]);
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ model: 'qwen', messages: hi });
    expect(JSON.stringify(requests)).not.toContain('secret');
    expect(slots.released).toBe(1);
    expect(gateway.log).toMatchObject([{ route: path, slot: 'agent', status: 200, completion_tokens: 4 }]);
  });

  test('a refusal by the schema is logged and counted like that of a chat', async () => {
    const { gateway } = await setUp(() => {});
    const { status } = await post(gateway.origin, path, { model: 'agent', tools: 'none' });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(gateway.log).toMatchObject([
      { id: 'r1', route: path, tier: 'client', state: 'done', status, error: 'request.invalid' },
    ]);
    expect(gateway.finished).toMatchObject([{ route: path, status }]);
  });

  test('a complete response without a message is a failure of the engine', async () => {
    const { gateway } = await setUp((_req, res) => {
      res.writeHead(200, JSON_TYPE);
      res.end('{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}');
    });
    expect(await post(gateway.origin, path, BODIES[path])).toMatchObject({ status: 502 });
    expect(gateway.log).toMatchObject([{ status: 502, error: 'upstream.error' }]);
  });

  test('a stream is translated as it arrives', async () => {
    const { gateway, responses } = await startWithManualEngine();
    const { head } = send(gateway.origin, path, JSON.stringify({ ...BODIES[path], stream: true }));
    await until(() => responses.length === 1);
    responses[0]?.writeHead(200, SSE);
    responses[0]?.write(delta('one'));
    const res = await head;
    let text = '';
    res.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    await until(() => text.includes('"one"'));
    expect(text).not.toContain('two');
    responses[0]?.end(`${delta('two')}${finish('stop')}data: [DONE]\n\n`);
    await until(() => res.complete);
    expect(typesOf(text).at(-1)).toBe(path === RESPONSES ? 'response.completed' : 'message_stop');
    expect(gateway.log).toMatchObject([{ status: 200, error: null }]);
  });

  test('a client disconnect ends the work of the engine', async () => {
    const { gateway, responses, engine, slots } = await startWithManualEngine();
    const { req, head } = send(gateway.origin, path, JSON.stringify({ ...BODIES[path], stream: true }));
    head.then((res) => res.on('error', () => {})).catch(() => {});
    await until(() => responses.length === 1);
    responses[0]?.writeHead(200, SSE);
    responses[0]?.write(delta('one'));
    await head;
    req.destroy();
    await until(() => engine.sockets.size === 0 && slots.released === 1);
    await until(() => gateway.log.length === 1);
    expect(gateway.log).toMatchObject([{ status: 499, error: 'client_closed' }]);
  });

  test('also before the response head', async () => {
    const { gateway, responses, engine } = await startWithManualEngine();
    const { req } = send(gateway.origin, path, JSON.stringify(BODIES[path]));
    req.on('error', () => {});
    await until(() => responses.length === 1);
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
      const writeMore = () => {
        while (!res.destroyed) {
          sent += block.length;
          if (res.write(block)) continue;
          full = true;
          res.once('drain', writeMore);
          return;
        }
      };
      writeMore();
    });
    const { req, head } = send(gateway.origin, path, JSON.stringify({ ...BODIES[path], stream: true }));
    const res = await head;
    res.on('error', () => {});
    res.pause();
    await until(() => full);
    let before = -1;
    await until(() => {
      const isPaused = before === sent;
      before = sent;
      return isPaused;
    });
    expect(sent).toBeLessThan(30 * 1024 * 1024);
    req.destroy();
  });

  test('errors of the engine keep status and message', async () => {
    const { gateway } = await setUp((req, res) => {
      req.resume();
      res.writeHead(422, JSON_TYPE);
      res.end('{"error":{"message":"no such grammar","code":"bad_grammar"}}');
    });
    const answer = await post(gateway.origin, path, BODIES[path]);
    expect(answer.status).toBe(422);
    const engineError = { message: 'no such grammar', code: 'bad_grammar' };
    const error = { ...engineError, type: 'invalid_request_error', param: null };
    expect(JSON.parse(answer.body)).toEqual(path === MESSAGES ? { type: 'error', error } : { error });
  });

  test('another code for a prompt that is too long becomes the code that agents expect', async () => {
    const message =
      "This model's maximum context length is 512 tokens. However, you requested 600 tokens (590 in the messages, 10 in the completion).";
    const { gateway } = await setUp((req, res) => {
      req.resume();
      res.writeHead(400, JSON_TYPE);
      res.end(
        JSON.stringify({ error: { message, type: 'invalid_request_error', code: 'invalid_request_error' } }),
      );
    });
    const answer = await post(gateway.origin, path, BODIES[path]);
    expect(answer.status).toBe(400);
    const expected = path === MESSAGES ? `prompt is too long: ${message}` : message;
    expect(JSON.parse(answer.body)).toMatchObject({
      error: { code: 'context_length_exceeded', message: expected },
    });
  });

  test.each([
    ['no JSON', 'hello'],
    ['a list', '[1]'],
  ])('%s is reported as a failure of the engine', async (_, text) => {
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

describe('counting', () => {
  const body = { model: 'agent', messages: hi };

  test('calls the engine and returns its count', async () => {
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

  test('calls an engine at its own path', async () => {
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
    'an engine that answers %i cannot count, and nothing is estimated',
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

  test.each(['{}', '{"input_tokens":"many"}', '{"input_tokens":1.5}'])('%s is not a count', async (text) => {
    const { gateway } = await setUp((req, res) => {
      req.resume();
      res.writeHead(200, JSON_TYPE);
      res.end(text);
    });
    expect((await post(gateway.origin, COUNT, body)).status).toBe(502);
  });
});

test.each([
  ['messages', BODIES[MESSAGES]],
  ['responses', { ...BODIES[RESPONSES], max_output_tokens: 9 }],
] as const)(
  '%s: the output limit is sent to OpenAI under the name that its models accept',
  async (name, body) => {
    const sent: unknown[] = [];
    const chat = async (call: InferenceCall) => {
      const target = { local: false, thinkingDefault: () => null, origin: 'https://api.openai.com' };
      sent.push(JSON.parse(String(TASKS.chat.read(call).body(target, 'gpt-5'))));
    };
    const res = new InternalResponse(new AbortController().signal);
    const bytes = Buffer.from(JSON.stringify(body));
    const call = { id: 'r1', route: 'v1.chat', path: CHAT, tier: 'client', receivedAt: 0 } as const;
    const tasks = { chat, count: chat };
    await serveDialect(name, tasks, () => {})({ ...call, body: bytes, res, req: { url: CHAT, headers: {} } });
    expect(sent).toMatchObject([{ model: 'gpt-5', max_completion_tokens: 9 }]);
    expect(sent[0]).not.toHaveProperty('max_tokens');
  },
);
