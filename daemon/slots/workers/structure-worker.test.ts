import { describe, expect, test } from 'vitest';
import { CHATML } from '../../models/testing/gguf/chat-templates.ts';
import { CHAT, joinDeltas, startTestWorker, TEXT, user } from './testing/worker-client.ts';

const schema = {
  type: 'object',
  properties: { a: { type: 'string' }, n: { type: 'integer' } },
  required: ['a', 'n'],
  additionalProperties: false,
};
const format = { response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } } };
const ANSWER = '{"a":"ok","n":1234567890123456}';
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_time',
      parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
    },
  },
  { type: 'function', function: { name: 'get_date' } },
];

describe('structure', () => {
  const { request, stream, worker } = startTestWorker({});

  test('enforces a schema and ends the answer with its text', async () => {
    const answer = await request(CHAT, { messages: user('x'), temperature: 0, ...format });
    expect(answer.choices[0]).toMatchObject({ message: { content: ANSWER }, finish_reason: 'stop' });
    const chunks = await stream(CHAT, { messages: user('x'), temperature: 0, ...format });
    expect(joinDeltas(chunks)).toMatchObject({ content: ANSWER, finish: ['stop'] });
    expect((await request(TEXT, { prompt: 'x', temperature: 0, json_schema: schema })).choices[0]?.text).toBe(
      ANSWER,
    );
  });

  test('an object is valid at any temperature', async () => {
    for (let seed = 0; seed < 8; seed++) {
      const highTemperature = { temperature: 3, top_k: 0, top_p: 1, min_p: 0, seed, max_tokens: 300 };
      const { choices } = await request(CHAT, { messages: user('x'), ...highTemperature, ...format });
      if (choices[0]?.finish_reason === 'length') continue;
      expect(Object.keys(JSON.parse(choices[0]?.message?.content ?? ''))).toEqual(['a', 'n']);
    }
    const { choices } = await request(CHAT, {
      messages: user('x'),
      response_format: { type: 'json_object' },
    });
    expect(JSON.parse(choices[0]?.message?.content ?? '')).toBeTypeOf('object');
  });

  test('enforces a custom grammar to the last token, also with probabilities', async () => {
    const answer = await request(CHAT, {
      messages: user('x'),
      grammar: 'root ::= "ja" | "no"',
      logprobs: true,
    });
    expect(['ja', 'no']).toContain(answer.choices[0]?.message?.content);
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'stop' });
    expect(answer.choices[0]?.logprobs?.content?.map((entry) => entry.token).join('')).toBe(
      answer.choices[0]?.message?.content,
    );
  });

  test('each of several choices restarts the grammar', async () => {
    const { choices } = await request(CHAT, { messages: user('x'), temperature: 0, n: 3, ...format });
    expect(choices.map((choice) => choice.message?.content)).toEqual([ANSWER, ANSWER, ANSWER]);
  });

  test('a strict schema with a keyword that changes the meaning is 400 with the keyword', async () => {
    const { status, error } = await request(CHAT, {
      messages: user('x'),
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'x', strict: true, schema: { type: 'string', not: { const: 'a' } } },
      },
    });
    expect(status).toBe(400);
    expect(error).toMatchObject({ param: 'response_format', message: expect.stringContaining('"not"') });
  });

  test('a header names the keywords that are not enforced', async () => {
    const odd = {
      type: 'array',
      items: { type: 'string', pattern: '(?=a)', maxLength: 2 },
      uniqueItems: true,
    };
    for (const stream of [true, false]) {
      const response = await worker().post(CHAT, {
        messages: user('x'),
        stream,
        max_tokens: 5,
        response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: odd } },
      });
      expect([response.status, response.headers.get('x-svc-ignored')]).toEqual([
        200,
        'response_format.uniqueItems, response_format.pattern',
      ]);
      await response.text();
    }
    const plain = await worker().post(TEXT, { prompt: 'x', max_tokens: 5, json_schema: schema });
    expect(plain.headers.get('x-svc-ignored')).toBeNull();
    await plain.text();
  });

  test.each(['auto', 'required'])('a structure next to tools: with %s', async (choice) => {
    const body = { messages: user('x'), temperature: 0, tools, tool_choice: choice, ...format };
    const [first] = (await request(CHAT, body)).choices;
    expect(first?.finish_reason).toBe(choice === 'auto' ? 'stop' : 'tool_calls');
  });
});

describe('a grammar that no token of the model matches', () => {
  const { request, stream, worker } = startTestWorker({}, { parallel: 2 });
  const grammar = 'root ::= "ab"{2}';
  const logit_bias = { 97: false, 98: false };
  const refused = { code: 'request.invalid', param: 'grammar', message: expect.stringContaining('no token') };

  test.each([{}, { logprobs: true }])(
    'is 422 for its caller, and the engine continues to serve: %j',
    async (sampling) => {
      const free = request(CHAT, { messages: user('x'), max_tokens: 40 });
      const answers = Array.from({ length: 6 }, () =>
        request(CHAT, { messages: user('x'), ...sampling, grammar, logit_bias }),
      );
      for (const { status, error } of await Promise.all(answers)) {
        expect(status).toBe(422);
        expect(error).toMatchObject(refused);
      }
      expect((await free).status).toBe(200);
      const after = await request(CHAT, { messages: user('x'), temperature: 0, ...format });
      expect(after.choices[0]?.message?.content).toBe(ANSWER);
      expect(await worker().health()).toMatchObject({ status: 'ok', active: 0, queued: 0 });
    },
  );

  test('ends a stream with the error', async () => {
    const response = await worker().post(CHAT, { messages: user('x'), grammar, logit_bias, stream: true });
    expect(await response.text()).toContain('"param":"grammar"');
    expect((await stream(CHAT, { messages: user('x') })).length).toBeGreaterThan(1);
  });
});

describe('required calls', () => {
  const { request, stream } = startTestWorker({ template: CHATML });

  test('required calls one of the tools, a named choice calls that one', async () => {
    const required = await request(CHAT, {
      messages: user('x'),
      tools,
      tool_choice: 'required',
      temperature: 0,
    });
    const [choice] = required.choices;
    expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const call = choice?.message?.tool_calls?.[0];
    expect(['get_time', 'get_date']).toContain(call?.function.name);
    expect(JSON.parse(call?.function.arguments ?? '')).toBeTypeOf('object');
    const named = { type: 'function', function: { name: 'get_date' } };
    const chunks = await stream(CHAT, { messages: user('x'), tools, tool_choice: named, temperature: 0 });
    expect(joinDeltas(chunks)).toMatchObject({
      content: '',
      tool_calls: [{ type: 'function', function: { name: 'get_date' } }],
      finish: ['tool_calls'],
    });
  });

  test("a call of OpenAI's older API, and of a custom tool", async () => {
    const functions = [{ name: 'get_date', parameters: { type: 'object', properties: {} } }];
    const legacy = { messages: user('x'), functions, function_call: { name: 'get_date' }, temperature: 0 };
    const [choice] = (await request(CHAT, legacy)).choices;
    expect(choice).toMatchObject({
      finish_reason: 'function_call',
      message: { content: null, function_call: { name: 'get_date', arguments: expect.stringMatching(/^{/) } },
    });
    expect(choice?.message).not.toHaveProperty('tool_calls');
    const custom = { type: 'custom', custom: { name: 'sql' } };
    const [answer] = (
      await request(CHAT, {
        messages: user('x'),
        tools: [custom],
        tool_choice: custom,
        temperature: 0,
        max_tokens: 120,
      })
    ).choices;
    expect(answer?.message?.tool_calls).toEqual([
      { id: expect.any(String), type: 'custom', custom: { name: 'sql', input: expect.any(String) } },
    ]);
  });

  test('a tool that is not offered cannot be named', async () => {
    const named = { type: 'function', function: { name: 'other' } };
    const { status, error } = await request(CHAT, { messages: user('x'), tools, tool_choice: named });
    expect([status, error?.param]).toEqual([422, 'tool_choice']);
  });
});
