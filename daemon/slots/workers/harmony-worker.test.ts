import { describe, expect, test } from 'vitest';
import { CHAT, joinDeltas, startTestWorker, user } from './testing/worker-client.ts';

const TEMPLATE =
  "{% for m in messages %}{{ '<|start|>' + m.role + '<|message|>' + m.content + '<|end|>' }}{% endfor %}{{ '<|start|>assistant' }}" +
  '{% if false %}{{ tools }}{{ tool_calls }}<|channel|>{% endif %}';
// llama.cpp treats `<|end|>` as no end token only when the other two exist.
const controls = ['<|return|>', '<|channel|>', '<|message|>', '<|start|>', '<|end|>', '<|constrain|>'];
const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const tools = [{ type: 'function', function: { name: 'get_time', parameters } }];

describe('a model that writes reasoning and calls as separate messages', () => {
  const script = [
    '<|channel|>',
    'analysis',
    '<|message|>',
    'The user wants',
    ' the time.',
    '<|end|>',
    '<|start|>assistant',
    '<|channel|>commentary to=functions.get_time ',
    '<|constrain|>',
    'json<|message|>',
    '{"n": ',
    '5}',
  ];
  const { request, stream } = startTestWorker({ template: TEMPLATE, controls, script, runs: false });
  const call = { type: 'function', function: { name: 'get_time', arguments: '{"n":5}' } };

  test('reasoning and a call, complete and streamed', async () => {
    const body = { messages: user('now?'), tools, temperature: 0 };
    const [choice] = (await request(CHAT, body)).choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, reasoning_content: 'The user wants the time.', tool_calls: [call] },
    });
    const chunks = await stream(CHAT, body);
    expect(joinDeltas(chunks)).toMatchObject({
      content: '',
      reasoning_content: 'The user wants the time.',
      tool_calls: [call],
      finish: ['tool_calls'],
    });
    expect(chunks.filter((chunk) => chunk.choices[0]?.delta?.reasoning_content).length).toBeGreaterThan(1);
  });

  test('calls nothing when no tool is offered', async () => {
    const [choice] = (await request(CHAT, { messages: user('now?'), temperature: 0 })).choices;
    expect(choice?.message?.tool_calls).toBeUndefined();
    expect(choice).toMatchObject({ finish_reason: 'stop', message: { content: '{"n": 5}' } });
  });

  test('writes a required call after the reasoning, in its own format', async () => {
    const body = { messages: user('x'), tools, tool_choice: 'required', temperature: 0, max_tokens: 200 };
    const [choice] = (await request(CHAT, body)).choices;
    expect(choice).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        reasoning_content: 'The user wants the time.',
        tool_calls: [{ function: { name: 'get_time' } }],
      },
    });
    expect(JSON.parse(choice?.message?.tool_calls?.[0]?.function.arguments ?? '')).toEqual({
      n: expect.any(Number),
    });
  });

  test('enforces a structure in the final message, after the reasoning', async () => {
    const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
    const body = { messages: user('x'), json_schema: schema, temperature: 0, max_tokens: 200 };
    const [choice] = (await request(CHAT, body)).choices;
    expect(choice?.message?.reasoning_content).toBe('The user wants the time.');
    expect(JSON.parse(choice?.message?.content ?? '')).toEqual({ ok: expect.any(Boolean) });
  });
});

describe('a model that answers directly', () => {
  const script = ['<|channel|>', 'final', '<|message|>', 'Hello', ' there.'];
  const { request } = startTestWorker({ template: TEMPLATE, controls, script, runs: false });

  test('returns its text without marks', async () => {
    const [choice] = (await request(CHAT, { messages: user('x'), temperature: 0 })).choices;
    expect(choice?.message).toEqual({ role: 'assistant', content: 'Hello there.', refusal: null });
  });
});
