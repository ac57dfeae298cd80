import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TINY_REPLY, tinyChat } from '../../models/testing/gguf/tiny-chat.ts';
import { type ForkedWorker, forkWorker, modelFile, readEvents } from './testing/forked-worker.ts';

const CHAT = '/v1/chat/completions';
const TEXT = '/v1/completions';
const user = (content: unknown) => [{ role: 'user', content }];

interface Choice {
  text?: string;
  message?: { content: string | null; tool_calls?: { function: { name: string; arguments: string } }[] };
  delta?: { role?: string; content?: string; tool_calls?: { index: number; function: { name: string } }[] };
  finish_reason: string | null;
}
interface Answer {
  id: string;
  object: string;
  model: string;
  choices: Choice[];
  usage?: {
    prompt_tokens: number;
    completion_tokens: number;
    total_tokens: number;
    prompt_tokens_details: object;
  };
  timings?: { predicted_n: number; cache_n: number };
  error?: { code: string; message: string; type: string; param: string | null; n_ctx?: number };
}

let worker: ForkedWorker;
let file: Awaited<ReturnType<typeof modelFile>>;

beforeAll(async () => {
  file = await modelFile(tinyChat({ scores: [12, 9, 8] }));
  worker = await forkWorker(file.path);
  await worker.ready;
}, 30_000);
afterAll(async () => {
  await worker.stop();
  await file.remove();
});

const request = async (path: string, body: object): Promise<Answer & { status: number }> => {
  const response = await worker.post(path, body);
  return { ...((await response.json()) as Answer), status: response.status };
};

async function stream(path: string, body: object): Promise<(Answer | '[DONE]')[]> {
  const response = await worker.post(path, { ...body, stream: true });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const events: (Answer | '[DONE]')[] = [];
  for await (const event of readEvents(response)) events.push(event === '[DONE]' ? event : JSON.parse(event));
  return events;
}

const chunks = (events: (Answer | '[DONE]')[]) => events.filter((event) => event !== '[DONE]');

describe('start', () => {
  test('reports the properties of the model with ready, after listening and progress', async () => {
    const facts = await worker.ready;
    expect(facts).toMatchObject({
      device: 'cpu',
      context: 512,
      contextTrain: 4096,
      parallel: 2,
      threads: 1,
      architecture: 'llama',
      chatTemplate: true,
    });
    expect(facts.size).toBeGreaterThan(100_000);
    const types = worker.messages.map((message) => message.type);
    expect(types[0]).toBe('listening');
    expect(types.at(-1)).toBe('ready');
    expect(types.slice(1, -1).every((type) => type === 'progress')).toBe(true);
  });

  test('a model for the CPU is loaded in a single process', async () => {
    const other = await forkWorker(file.path);
    const children = `/proc/${other.child.pid}/task/${other.child.pid}/children`;
    let childPids = '';
    const poll = setInterval(() => {
      childPids += readFileSync(children, 'utf8');
    }, 5);
    await other.ready;
    clearInterval(poll);
    await other.stop();
    expect(childPids).toBe('');
  });

  test('health needs no key, every other route does', async () => {
    expect(await worker.health()).toMatchObject({ status: 'ok', active: 0, queued: 0 });
    const wrong = await worker.post(CHAT, { messages: user('hi') }, { key: 'wrong' });
    expect(wrong.status).toBe(401);
    expect(((await wrong.json()) as Answer).error).toMatchObject({ type: 'authentication_error' });
    expect((await fetch(`${worker.origin}/v1/models`)).status).toBe(401);
  });

  test('the model list contains the model', async () => {
    const response = await fetch(`${worker.origin}/v1/models`, {
      headers: { authorization: 'Bearer key-of-this-engine' },
    });
    expect(await response.json()).toMatchObject({
      object: 'list',
      data: [{ id: 'tiny', object: 'model', owned_by: 'svc', meta: { n_ctx: 512, n_ctx_train: 4096 } }],
    });
  });

  test('an unknown path is 404, and a body that is not JSON is 400', async () => {
    expect((await worker.post('/v1/nothing', {})).status).toBe(404);
    expect((await worker.post(CHAT, '{"messages":')).status).toBe(400);
  });
});

describe('chat', () => {
  test('a chat has a complete response with usage and timings', async () => {
    const answer = await request(CHAT, { messages: user('hello'), temperature: 0, model: 'whatever' });
    expect(answer).toMatchObject({ status: 200, object: 'chat.completion', model: 'tiny' });
    expect(answer.id).toMatch(/^chatcmpl-/);
    expect(answer.choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: TINY_REPLY, refusal: null },
        finish_reason: 'stop',
        logprobs: null,
      },
    ]);
    expect(answer.usage).toMatchObject({ completion_tokens: 6 });
    expect(answer.usage?.total_tokens).toBe((answer.usage?.prompt_tokens ?? 0) + 6);
    expect(answer.timings).toMatchObject({ predicted_n: 6 });
  });

  test('a stream has role, text, one finish reason, and usage only when requested', async () => {
    const events = await stream(CHAT, { messages: user('hello'), stream_options: { include_usage: true } });
    expect(events.at(-1)).toBe('[DONE]');
    const parts = chunks(events);
    expect(new Set(parts.map((part) => part.id)).size).toBe(1);
    expect(parts[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect(parts.map((part) => part.choices[0]?.delta?.content ?? '').join('')).toBe(TINY_REPLY);
    expect(parts.filter((part) => part.choices[0]?.finish_reason === 'stop').length).toBe(1);
    expect(parts.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 6 } });
    const plain = chunks(await stream(CHAT, { messages: user('hello') }));
    expect(plain.every((part) => part.choices.length === 1 && part.usage === undefined)).toBe(true);
  });

  test.each([
    [
      'text parts',
      user([
        { type: 'text', text: 'one ' },
        { type: 'text', text: 'two' },
      ]),
    ],
    ['a developer message', [{ role: 'developer', content: 'be kind' }, ...user('hi')]],
    ['no ASCII at all', user('ありがとう 🌸')],
  ])('%s is accepted', async (_, messages) => {
    expect((await request(CHAT, { messages })).choices[0]?.message?.content).toBe(TINY_REPLY);
  });

  test('tools lead to a call, and its result to an answer', async () => {
    const tools = [{ type: 'function', function: { name: 'get_time', parameters: { type: 'object' } } }];
    const first = await request(CHAT, { messages: user('time?'), tools });
    const call = first.choices[0]?.message?.tool_calls?.[0];
    expect(first.choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    expect(call?.function).toEqual({ name: 'get_time', arguments: '{"zone":"UTC"}' });
    const messages = [
      ...user('time?'),
      { ...first.choices[0]?.message, role: 'assistant' },
      { role: 'tool', tool_call_id: 'x', content: 'noon' },
    ];
    expect((await request(CHAT, { messages, tools })).choices[0]?.message?.content).toBe(TINY_REPLY);
    const parts = chunks(await stream(CHAT, { messages: user('time?'), tools }));
    const deltas = parts.flatMap((part) => part.choices[0]?.delta?.tool_calls ?? []);
    expect(deltas[0]).toMatchObject({ index: 0, type: 'function', function: { name: 'get_time' } });
    expect(deltas.slice(1).every((delta) => delta.index === 0 && delta.function.name === undefined)).toBe(
      true,
    );
    expect(parts.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
    expect(
      (await request(CHAT, { messages: user('x'), tools, tool_choice: 'none' })).choices[0]?.finish_reason,
    ).toBe('stop');
    expect((await request(CHAT, { messages: user('x'), tools, max_tokens: 3 })).status).toBe(200);
  });
});

describe('completions', () => {
  test('text continues the prompt up to max_tokens', async () => {
    const answer = await request(TEXT, { prompt: 'abc', max_tokens: 5, temperature: 0 });
    expect(answer).toMatchObject({
      object: 'text_completion',
      choices: [{ text: 'defgh', finish_reason: 'length' }],
    });
    expect(answer.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 5 });
  });

  test.each([
    ['fgh', 'de'],
    [['xyz', 'h'], 'defg'],
  ])('the stop string %j is cut off, also across tokens and in a stream', async (stop, text) => {
    const body = { prompt: 'abc', max_tokens: 50, temperature: 0, stop };
    expect((await request(TEXT, body)).choices[0]).toMatchObject({ text, finish_reason: 'stop' });
    const parts = chunks(await stream(TEXT, body));
    expect(parts.map((part) => part.choices[0]?.text).join('')).toBe(text);
    expect(parts.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  test('the same seed gives the same text, another seed a different one', async () => {
    const body = { prompt: 'abc', max_tokens: 60, temperature: 5, top_k: 0, top_p: 1, min_p: 0 };
    const complete = async (seed: number) => (await request(TEXT, { ...body, seed })).choices[0]?.text;
    const first = await complete(7);
    expect(await complete(7)).toBe(first);
    expect(await complete(8)).not.toBe(first);
  });

  test('a repeat penalty is applied', async () => {
    const body = { prompt: 'a'.repeat(20), max_tokens: 60, temperature: 0 };
    const plain = await request(TEXT, body);
    const penalised = await request(TEXT, {
      ...body,
      presence_penalty: 2,
      frequency_penalty: 2,
      repeat_penalty: 2,
    });
    expect(plain.choices[0]?.text).toBe('bcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghi');
    expect(penalised.choices[0]?.text).not.toBe(plain.choices[0]?.text);
  });

  test('a repeated prompt is not evaluated again', async () => {
    const prompt = 'the same long beginning of every prompt: abc';
    await request(TEXT, { prompt, max_tokens: 1 });
    const repeated = await request(TEXT, { prompt: `${prompt}d`, max_tokens: 1 });
    expect(repeated.usage?.prompt_tokens_details).toEqual({ cached_tokens: prompt.length });
  });
});

describe('limits', () => {
  test('a prompt that fills the window is refused with the numbers, streamed or not', async () => {
    for (const streamed of [false, true]) {
      const { status, error } = await request(TEXT, { prompt: 'x'.repeat(512), stream: streamed });
      expect(status).toBe(400);
      expect(error).toMatchObject({
        code: 'context_length_exceeded',
        message: 'request (512 tokens) exceeds the available context size (512 tokens), try increasing it',
        type: 'invalid_request_error',
        n_prompt_tokens: 512,
        n_ctx: 512,
      });
    }
  });

  test('an answer that reaches the window ends with length, without a context shift', async () => {
    const answer = await request(TEXT, { prompt: `${'.'.repeat(499)}a`, temperature: 0 });
    expect(answer.choices[0]).toMatchObject({ text: 'bcdefghijklm', finish_reason: 'length' });
    expect(answer.usage?.total_tokens).toBe(512);
  });

  test.each([
    [{}, 'messages'],
    [{ messages: 'hi' }, 'messages'],
    [{ messages: [] }, 'messages'],
    [{ messages: user('x'), temperature: 'hot' }, 'temperature'],
    [{ messages: user('x'), stop: [1] }, 'stop'],
    [{ messages: user('x'), n: 0 }, 'n'],
    [{ messages: user('x'), logprobs: 5 }, 'logprobs'],
    [{ messages: user('x'), response_format: { type: 'xml' } }, 'response_format'],
    [{ messages: user('x'), audio: { voice: 'a' } }, 'audio'],
    [{ messages: user([{ type: 'image_url', image_url: { url: 'data:' } }]) }, 'messages.0.content.0', 400],
  ])(
    '%j is 422, content that the model cannot read 400, and names the field',
    async (body, field, code = 422) => {
      const { status, error } = await request(CHAT, body);
      expect(status).toBe(code);
      expect(error).toMatchObject({ type: 'invalid_request_error', code: 'request.invalid' });
      expect(error?.param).toContain(field);
      expect(error?.message).toContain(field);
    },
  );
});
