/** The official `openai` client: tools, structured output, probabilities and vectors, against real llama.cpp. */
import type OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { TINY_REPLY } from '../models/testing/gguf/tiny-chat.ts';
import { startForClients, VECTOR_SIZE } from './harness/client-gateway.ts';
import { CLIENT_KEY } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { openaiClient, user } from './harness/openai.ts';

let openai: OpenAI;

const gateway = new OneGateway(startForClients);
beforeAll(async () => {
  openai = openaiClient(gateway);
});

const parameters = { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] };
const tools = [
  { type: 'function' as const, function: { name: 'get_time', description: 'Time', parameters } },
];
const question = [user('What time is it?')];
const greedy = { temperature: 0, max_tokens: 100 };

describe('tools', () => {
  it('a call, its result in a second turn, and the reply', async () => {
    const first = await openai.chat.completions.create({
      model: 'agent',
      messages: question,
      tools,
      ...greedy,
    });
    const [choice] = first.choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { role: 'assistant', content: null },
    });
    const [call, ...more] = choice?.message.tool_calls ?? [];
    expect(more).toEqual([]);
    expect(call).toMatchObject({
      type: 'function',
      function: { name: 'get_time', arguments: '{"zone":"UTC"}' },
    });
    const result = { role: 'tool' as const, tool_call_id: call?.id ?? '', content: '12:00' };
    const messages = [...question, choice?.message as OpenAI.ChatCompletionMessage, result];
    const second = await openai.chat.completions.create({ model: 'agent', messages, tools, ...greedy });
    expect(second.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: TINY_REPLY } });
  });

  it('two calls at once have their own ids, whole and streamed', async () => {
    const body = { model: 'pair', messages: question, tools, parallel_tool_calls: true, ...greedy };
    const whole = await openai.chat.completions.create(body);
    const streamed = await openai.chat.completions.stream(body).finalChatCompletion();
    for (const { choices } of [whole, streamed]) {
      const calls = choices[0]?.message.tool_calls ?? [];
      expect(choices[0]?.finish_reason).toBe('tool_calls');
      expect(calls.map((call) => call.type === 'function' && JSON.parse(call.function.arguments))).toEqual([
        { zone: 'UTC' },
        { zone: 'CET' },
      ]);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    }
  });

  it('parallel_tool_calls: false ends after the first', async () => {
    const response = await openai.chat.completions.create({
      model: 'pair',
      messages: question,
      tools,
      parallel_tool_calls: false,
      ...greedy,
    });
    expect(response.choices[0]?.message.tool_calls).toHaveLength(1);
    expect(response.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('streamed: the helper assembles the call and emits its end', async () => {
    const runner = openai.chat.completions.stream({ model: 'agent', messages: question, tools, ...greedy });
    const done: unknown[] = [];
    runner.on('tool_calls.function.arguments.done', (event) => done.push([event.name, event.arguments]));
    const { choices } = await runner.finalChatCompletion();
    expect(done).toEqual([['get_time', '{"zone":"UTC"}']]);
    expect(choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('runTools calls the function and continues automatically', async () => {
    const calls: unknown[] = [];
    const runner = openai.chat.completions.runTools({
      model: 'agent',
      messages: question,
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_time',
            description: 'Time',
            parameters,
            parse: JSON.parse,
            function: (args: object) => {
              calls.push(args);
              return '12:00';
            },
          },
        },
      ],
      ...greedy,
    });
    expect(await runner.finalContent()).toBe(TINY_REPLY);
    expect(calls).toEqual([{ zone: 'UTC' }]);
  });

  it('tool_choice none and by name', async () => {
    const body = { model: 'agent', messages: question, tools, ...greedy };
    const none = await openai.chat.completions.create({ ...body, tool_choice: 'none' });
    expect(none.choices[0]?.message).toMatchObject({ content: TINY_REPLY });
    const named = await openai.chat.completions.create({
      ...body,
      model: 'pair',
      tool_choice: { type: 'function', function: { name: 'get_time' } },
    });
    expect(named.choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: 'get_time' } });
  });
});

describe('structured output', () => {
  const shape = z.object({ a: z.string(), n: z.int() });

  it('parse() with a zod schema returns the object', async () => {
    const response = await openai.chat.completions.parse({
      model: 'agent',
      messages: [user('Fill it.')],
      response_format: zodResponseFormat(shape, 'thing'),
      ...greedy,
    });
    const parsed = response.choices[0]?.message.parsed;
    expect(shape.parse(parsed)).toEqual(parsed);
    expect(parsed?.a).toBe('ok');
  });

  it('the same streamed', async () => {
    const runner = openai.chat.completions.stream({
      model: 'agent',
      messages: [user('Fill it.')],
      response_format: zodResponseFormat(shape, 'thing'),
      ...greedy,
    });
    const { choices } = await runner.finalChatCompletion();
    expect(choices[0]?.message.parsed?.a).toBe('ok');
  });
});

describe('a schema that a grammar cannot enforce whole', () => {
  const schema = z.object({
    mail: z.email(),
    n: z.number().multipleOf(5),
    tags: z.record(z.string(), z.int()),
  });
  const json = z.toJSONSchema(schema);
  const answer = { max_tokens: 60, temperature: 0 };
  const messages = [user('Fill it.')];
  const tool = { name: 'fill', parameters: json };
  const relaxed = ['format:email', 'multipleOf'];

  it.each([
    [
      'chat',
      '/v1/chat/completions',
      {
        messages,
        response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: json } },
      },
      'response_format',
    ],
    [
      'a tool of a chat',
      '/v1/chat/completions',
      { messages, tools: [{ type: 'function', function: tool }], tool_choice: 'required' },
      'tools',
    ],
    [
      'responses',
      '/v1/responses',
      {
        input: 'Fill it.',
        max_output_tokens: 60,
        text: { format: { type: 'json_schema', name: 'x', schema: json } },
      },
      'response_format',
    ],
    [
      'messages',
      '/v1/messages',
      { messages, output_config: { format: { type: 'json_schema', schema: json } } },
      'response_format',
    ],
  ])('%s: is served, and the header names the rest', async (_, path, body, field) => {
    for (const stream of [false, true]) {
      const sent = { model: 'agent', ...answer, ...body, stream };
      const response = await send(gateway, 'POST', path, { key: CLIENT_KEY, body: sent });
      expect([response.status, response.headers['x-svc-ignored']], response.text).toEqual([
        200,
        relaxed.map((name) => `${field}.${name}`).join(', '),
      ]);
    }
  });

  const grammar = { syntax: 'regex', definition: '[a-z]+' };
  it.each([
    [
      '/v1/chat/completions',
      {
        messages,
        tools: [{ type: 'custom', custom: { name: 'sql', format: { type: 'grammar', grammar } } }],
      },
      'tools.0.custom.format',
    ],
    [
      '/v1/responses',
      { input: 'hi', tools: [{ type: 'custom', name: 'sql', format: { type: 'grammar', ...grammar } }] },
      'tools.0.format',
    ],
  ])(
    '%s: the grammar of a custom tool is not enforced, and the header names it',
    async (path, body, named) => {
      for (const stream of [false, true]) {
        const sent = { model: 'agent', ...body, stream };
        const response = await send(gateway, 'POST', path, { key: CLIENT_KEY, body: sent });
        expect([response.status, response.headers['x-svc-ignored']], response.text).toEqual([200, named]);
      }
    },
  );

  it.each([
    ['/v1/chat/completions', { messages, tools: [{ type: 'custom', custom: {} }] }, 'tools.0.custom.name'],
    ['/v1/responses', { input: 'hi', tools: [{ type: 'custom' }] }, 'tools.0.name'],
    ['/v1/responses', { input: 'hi', tools: [{ type: 'custom', name: 'x'.repeat(300) }] }, 'tools.0.name'],
    [
      '/v1/messages',
      { messages, max_tokens: 9, tools: [{ type: 'custom', input_schema: {} }] },
      'tools.0.name',
    ],
    [
      '/v1/messages',
      { messages, max_tokens: 9, tools: [{ name: 'x'.repeat(300), input_schema: {} }] },
      'tools.0.name',
    ],
  ])('%s: a tool without a usable name is named where the caller wrote it: %#', async (path, body, param) => {
    const response = await send(gateway, 'POST', path, {
      key: CLIENT_KEY,
      body: { model: 'agent', ...body },
    });
    expect(response.status).toBe(422);
    expect(response.json()).toMatchObject({ error: { param, details: { fields: [{ path: param }] } } });
  });

  it('with strict, what changes the meaning is 400 with its position', async () => {
    const never = { type: 'object', properties: { a: { type: 'string', not: { const: 'x' } } } };
    const format = { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: never } };
    const strict = { name: 'f', strict: true, parameters: never };
    for (const [fields, param] of [
      [{ response_format: format }, 'response_format'],
      [{ tools: [{ type: 'function', function: strict }] }, 'tools.0.function.parameters'],
    ] as const) {
      const body = { model: 'agent', messages, ...fields };
      const response = await send(gateway, 'POST', '/v1/chat/completions', { key: CLIENT_KEY, body });
      expect([response.status, response.json()]).toEqual([
        400,
        {
          error: expect.objectContaining({ param, message: expect.stringContaining('properties.a: "not"') }),
        },
      ]);
    }
  });
});

describe('a message of the assistant at the end', () => {
  const prefill = { role: 'assistant', content: 'One two' };
  const count = async (path: string, body: object, field: string): Promise<number> => {
    const response = await send(gateway, 'POST', path, {
      key: CLIENT_KEY,
      body: { model: 'agent', ...body },
    });
    expect(response.status, response.text).toBe(200);
    const { usage } = response.json<{ usage: Record<string, number> }>();
    return (usage[field] ?? 0) + (usage.cache_read_input_tokens ?? 0);
  };

  it.each([
    ['/v1/chat/completions', 'messages', 'prompt_tokens'],
    ['/v1/responses', 'input', 'input_tokens'],
    ['/v1/messages', 'messages', 'input_tokens'],
  ])('%s: is continued, not answered', async (path, list, field) => {
    const hi = [{ role: 'user', content: 'Count.' }];
    const limit = path === '/v1/responses' ? { max_output_tokens: 4 } : { max_tokens: 4 };
    const answered = await count(path, { ...limit, [list]: hi }, field);
    const continued = await count(path, { ...limit, [list]: [...hi, prefill] }, field);
    const words = await count('/v1/completions', { prompt: prefill.content, max_tokens: 1 }, 'prompt_tokens');
    expect(continued - answered).toBe(words);
  });
});

describe('probabilities', () => {
  it('of each token, natural logarithms, best first', async () => {
    const response = await openai.chat.completions.create({
      model: 'agent',
      messages: [user('Hi!')],
      logprobs: true,
      top_logprobs: 3,
      ...greedy,
    });
    const tokens = response.choices[0]?.logprobs?.content ?? [];
    expect(tokens.map(({ token }) => token).join('')).toBe(TINY_REPLY);
    for (const { token, logprob, bytes, top_logprobs: top } of tokens) {
      expect(logprob).toBeGreaterThan(Math.log(0.9));
      expect(bytes).toEqual([...Buffer.from(token)]);
      expect(top).toHaveLength(3);
      expect(top[0]).toMatchObject({ token, logprob });
    }
  });

  it('of a completion: four lists of one length', async () => {
    const response = await openai.completions.create({
      model: 'agent',
      prompt: 'abc',
      logprobs: 2,
      max_tokens: 4,
      temperature: 0,
    });
    const logprobs = response.choices[0]?.logprobs;
    expect(logprobs?.tokens).toEqual(['d', 'e', 'f', 'g']);
    expect(logprobs?.text_offset).toEqual([0, 1, 2, 3]);
    expect(logprobs?.token_logprobs).toHaveLength(4);
    expect(Object.keys(logprobs?.top_logprobs?.[0] ?? {})).toEqual(['d', '"']);
  });
});

describe('vectors', () => {
  it('base64, the default of the client, and float are the same numbers', async () => {
    const body = { model: 'vectors', input: ['the cat sat', 'on the mat'] };
    const coded = await openai.embeddings.create(body);
    const plain = await openai.embeddings.create({ ...body, encoding_format: 'float' });
    for (const [i, { embedding }] of coded.data.entries()) {
      expect(embedding).toHaveLength(VECTOR_SIZE);
      expect(Math.hypot(...embedding)).toBeCloseTo(1, 4);
      expect(plain.data[i]?.embedding.map(Math.fround)).toEqual(embedding);
    }
  });
});
