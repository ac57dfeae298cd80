/** SmolLM2-135M-Instruct, a real chat model with real weights, in the embedded engine behind a gateway. */
import type OpenAI from 'openai';
import { BadRequestError } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { failure } from '../../../daemon/test/harness/failure.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { openaiClient, user } from '../../../daemon/test/harness/openai.ts';
import { waitForSlotState } from '../../../daemon/test/harness/slots.ts';
import { smollm2 } from '../harness/real-models.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

const CONTEXT = 2048;
const LOAD_LIMIT_MS = 90_000;
/** Questions for which each token of the greedy answer is at least twice as likely as the next, so rounding has no effect. */
const FACT = 'What is the capital of France? Answer with one word.';
const LIST = 'Count from one to ten in words.';
const STORY = 'Tell me a story about a dragon.';

const file = await availableOrSkip('SmolLM2 in the embedded engine', smollm2);

describe.skipIf(file === null)('SmolLM2-135M-Instruct in the embedded engine', () => {
  const gateway = new OneGateway(() =>
    startGateway({
      env: { SVC_MODEL: file ?? '' },
      files: {
        'config/slots/agent.toml': `context = ${CONTEXT}\nparallel = 2\ndevice = "cpu"\n`,
      },
    }),
  );
  let openai: OpenAI;
  beforeAll(async () => {
    openai = openaiClient(gateway, { timeout: 90_000 });
    await waitForSlotState(gateway, 'agent', 'ready', undefined, LOAD_LIMIT_MS);
  });

  type Options = Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>;
  const chat = (prompt: string, options: Options = {}) =>
    openai.chat.completions.create({
      model: 'agent',
      messages: [user(prompt)],
      temperature: 0,
      max_tokens: 48,
      ...options,
    });
  const textOf = async (prompt: string, options: Options = {}): Promise<string> =>
    (await chat(prompt, options)).choices[0]?.message.content ?? '';

  it.each([
    [FACT, 'Paris'],
    ['What is the capital of Japan?', 'Tokyo'],
  ])('%s → %s', async (question, answer) => {
    const { choices, usage, model } = await chat(question);
    expect(model).toBe('SmolLM2-135M-Instruct.Q4_1');
    expect(choices[0]?.message.content).toContain(answer);
    expect(choices[0]?.finish_reason).toBe('stop');
    expect(usage?.prompt_tokens).toBeGreaterThan(30);
    expect(usage?.completion_tokens).toBeLessThan(20);
  });

  it('a system message and earlier turns reach the model', async () => {
    const { choices } = await openai.chat.completions.create({
      model: 'agent',
      messages: [
        { role: 'system', content: 'You answer questions about geography in one short sentence.' },
        user('What is the capital of France?'),
        { role: 'assistant', content: 'The capital of France is Paris.' },
        user('What is the capital of Italy?'),
      ],
      temperature: 0,
      max_tokens: 24,
    });
    expect(choices[0]?.message.content).toContain('Rome');
  });

  it('usage: the sums agree and each token of the answer counts', async () => {
    const { usage, choices } = await chat(STORY, { max_tokens: 17 });
    expect(choices[0]?.finish_reason).toBe('length');
    expect(usage?.completion_tokens).toBe(17);
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + 17);
  });

  it('json_schema: the answer parses and matches', async () => {
    const Person = z.strictObject({
      name: z.string().min(1).max(20),
      age: z.int(),
      home: z.enum(['Paris', 'Rome', 'Berlin']),
      tags: z.array(z.string().max(12)).length(2),
    });
    const { $schema: _, ...schema } = z.toJSONSchema(Person);
    const answer = await textOf('Describe a person who lives in Rome as JSON.', {
      max_tokens: 200,
      response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } },
    });
    expect(() => Person.parse(JSON.parse(answer)), answer).not.toThrow();
  });

  it('tool_choice required: the right function with valid arguments', async () => {
    const { choices } = await chat('What is the weather in Berlin?', {
      max_tokens: 120,
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'Get the weather of a city',
            parameters: {
              type: 'object',
              properties: { city: { type: 'string' } },
              required: ['city'],
              additionalProperties: false,
            },
          },
        },
      ],
      tool_choice: 'required',
    });
    const [call] = choices[0]?.message.tool_calls ?? [];
    expect(choices[0]?.finish_reason).toBe('tool_calls');
    if (call?.type !== 'function') throw new Error(`no function call: ${JSON.stringify(choices)}`);
    expect(call.function.name).toBe('get_weather');
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Berlin' });
  });

  it('seed: the same text for the same seed, another one for another seed', async () => {
    const draw = (seed: number) => textOf(STORY, { temperature: 1, seed, max_tokens: 24 });
    const first = await draw(1);
    expect(await draw(1)).toBe(first);
    expect(await draw(2)).not.toBe(first);
  });

  it('n = 2: two choices with different texts, counted together', async () => {
    const { choices, usage } = await chat(STORY, { temperature: 1, seed: 7, n: 2, max_tokens: 24 });
    expect(choices.map(({ index }) => index)).toEqual([0, 1]);
    const [one, two] = choices.map(({ message }) => message.content);
    expect(one).toBeTruthy();
    expect(two).toBeTruthy();
    expect(one).not.toBe(two);
    expect(usage?.completion_tokens).toBeGreaterThan(24);
  });

  it('stop: the answer ends before the stop text', async () => {
    const whole = await textOf(LIST);
    const stop = '5.';
    expect(whole).toContain(stop);
    const { choices } = await chat(LIST, { stop });
    expect(choices[0]?.message.content).toBe(whole.slice(0, whole.indexOf(stop)));
    expect(choices[0]?.finish_reason).toBe('stop');
  });

  it('a stream has the same text and the same counts', async () => {
    const plain = await chat(LIST);
    const stream = await openai.chat.completions.create({
      model: 'agent',
      messages: [user(LIST)],
      temperature: 0,
      max_tokens: 48,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const deltas = chunks.map(({ choices }) => choices[0]?.delta.content ?? '');
    expect(deltas.filter((text) => text !== '').length).toBeGreaterThan(10);
    expect(deltas.join('')).toBe(plain.choices[0]?.message.content);
    const { prompt_tokens, completion_tokens } = chunks.at(-1)?.usage ?? {};
    expect([prompt_tokens, completion_tokens]).toEqual([
      plain.usage?.prompt_tokens,
      plain.usage?.completion_tokens,
    ]);
  });

  it('a prompt that is too long: context_length_exceeded with both sizes', async () => {
    const error = await failure(chat('word '.repeat(3 * CONTEXT)), BadRequestError);
    expect(error).toMatchObject({ status: 400, code: 'context_length_exceeded', param: 'messages' });
    expect(error.message).toMatch(new RegExp(`\\b6\\d{3}\\b.*\\b${CONTEXT}\\b`));
  });
});
