import { describe, expect, test } from 'vitest';
import { TINY_REPLY } from '../../models/testing/gguf/tiny-chat.ts';
import { CHAT, joinDeltas, startTestWorker, TEXT, user } from './testing/worker-client.ts';

const { request, stream } = startTestWorker({ scores: [12, 10.5, 8] });
const highTemperature = { prompt: 'abc', max_tokens: 60, temperature: 5, top_k: 0, top_p: 1, min_p: 0 };
const greedy = { prompt: 'abc', max_tokens: 5, temperature: 0 };
const text = async (body: object) => (await request(TEXT, body)).choices[0]?.text;

describe('choices', () => {
  test('n returns that many numbered choices with their own seeds, and the prompt counts once', async () => {
    const answer = await request(TEXT, { ...highTemperature, n: 3, seed: 7 });
    expect(answer.choices.map((choice) => choice.index)).toEqual([0, 1, 2]);
    expect(new Set(answer.choices.map((choice) => choice.text)).size).toBe(3);
    expect(answer.usage).toMatchObject({ prompt_tokens: 3 });
    expect(await request(TEXT, { ...highTemperature, n: 3, seed: 7 })).toMatchObject({
      choices: answer.choices,
    });
  });

  test('a stream distinguishes choices by index, each with its own role and end', async () => {
    const chunks = await stream(CHAT, { messages: user('x'), n: 2, stream_options: { include_usage: true } });
    for (const choice of [0, 1]) {
      expect(joinDeltas(chunks, choice)).toMatchObject({ content: TINY_REPLY, finish: ['stop'] });
      const own = chunks.filter((chunk) => chunk.choices[0]?.index === choice);
      expect(own[0]?.choices[0]?.delta?.role).toBe('assistant');
    }
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 12 } });
  });

  test('answers several prompts, as text or tokens, in order', async () => {
    const answer = await request(TEXT, { ...greedy, prompt: ['abc', 'klm'], n: 2, echo: true });
    expect(answer.choices.map((choice) => choice.text)).toEqual([
      'abcdefgh',
      'abcdefgh',
      'klmnopqr',
      'klmnopqr',
    ]);
    const tokens = await request(TEXT, { ...greedy, prompt: [[97, 98], [107]], echo: true });
    expect(tokens.choices.map((choice) => choice.text)).toEqual(['abcdefg', 'klmnop']);
    expect(tokens.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 10 });
    expect(await text({ ...greedy, prompt: [97] })).toBe('bcdef');
  });

  test('streams an echo before the answer', async () => {
    const chunks = await stream(TEXT, { ...greedy, echo: true });
    expect(chunks[0]?.choices[0]?.text).toBe('abc');
    expect(chunks.map((chunk) => chunk.choices[0]?.text).join('')).toBe('abcdefgh');
  });
});

describe('sampling options', () => {
  test('top_k, top_p, min_p and typical_p each keep only the best tokens', async () => {
    for (const best of [{ top_k: 1 }, { top_p: 0.01 }, { min_p: 1 }, { typical_p: 0.5 }])
      expect(await text({ ...highTemperature, max_tokens: 5, ...best })).toBe('defgh');
  });

  test('a bias forbids or prefers, by id and by text', async () => {
    expect(await text({ ...greedy, logit_bias: { '100': -100 } })).not.toContain('d');
    expect(await text({ ...greedy, logit_bias: { '122': 100 } })).toBe('zzzzz');
    expect(await text({ ...greedy, logit_bias: [['d', false]] })).not.toContain('d');
  });

  test.each([
    ['repeat_penalty', { repeat_penalty: 3 }],
    ['presence_penalty', { presence_penalty: 2 }],
    ['frequency_penalty', { frequency_penalty: 2 }],
    ['dry_multiplier', { dry_multiplier: 5, dry_allowed_length: 1 }],
  ])('%s prevents a repetition of the alphabet', async (_, penalty) => {
    const round = { prompt: 'a', max_tokens: 120, temperature: 0 };
    const alphabet = 'abcdefghijklmnopqrstuvwxyz'.repeat(6);
    expect(await text(round)).toBe(alphabet.slice(1, 121));
    expect(await text({ ...round, ...penalty, repeat_last_n: 1024 })).not.toBe(alphabet.slice(1, 121));
  });

  test('xtc removes the best token', async () => {
    const xtc = {
      ...highTemperature,
      temperature: 1,
      max_tokens: 20,
      xtc_probability: 1,
      xtc_threshold: 0.001,
      seed: 1,
    };
    expect(await text(xtc)).not.toMatch(/^d/);
  });

  test.each([
    [{ logit_bias: { '99999': 1 } }, 'logit_bias'],
    [{ logit_bias: { '257': -100 } }, 'logit_bias'],
    [{ typical_p: 0.5, grammar: 'root ::= "a"' }, 'typical_p'],
    [{ suffix: 'end' }, 'suffix'],
    [{ prompt: [1, 99999] }, 'prompt'],
    [{ prompt: [] }, 'prompt'],
    [{ prompt: '' }, 'prompt'],
    [{ grammar: 'root ::= nothing' }, 'grammar'],
  ])('%j is 422 and names the field', async (body, param) => {
    const { status, error } = await request(TEXT, { ...greedy, ...body });
    expect(status).toBe(422);
    expect(error).toMatchObject({ type: 'invalid_request_error', param });
  });
});

describe('probabilities', () => {
  test('of a chat, over the whole vocabulary for any sampling', async () => {
    const entries = async (extra: object) => {
      const { choices } = await request(CHAT, {
        messages: user('x'),
        logprobs: true,
        top_logprobs: 3,
        ...extra,
      });
      return choices[0]?.logprobs?.content ?? [];
    };
    const cold = await entries({ temperature: 0 });
    expect(cold.map((entry) => entry.token).join('')).toBe(TINY_REPLY);
    expect(cold[0]?.top_logprobs).toHaveLength(3);
    expect(cold[0]?.top_logprobs[0]).toMatchObject({ token: 'Hello', logprob: cold[0]?.logprob });
    // 12 against 273 tokens of 0.
    expect(cold[0]?.logprob).toBeCloseTo(-Math.log(1 + 273 * Math.exp(-12)), 3);
    expect(await entries({ temperature: 0.7, top_k: 5 })).toEqual(cold);
    expect((await entries({ top_logprobs: 0 }))[0]?.top_logprobs).toEqual([]);
  });

  test('sampling with probabilities is repeatable by seed', async () => {
    const withLogprobs = { ...highTemperature, logprobs: 2 };
    const first = await request(TEXT, { ...withLogprobs, seed: 7 });
    expect(await request(TEXT, { ...withLogprobs, seed: 7 })).toMatchObject({ choices: first.choices });
    expect((await request(TEXT, { ...withLogprobs, seed: 8 })).choices[0]?.text).not.toBe(
      first.choices[0]?.text,
    );
  });

  test('a streamed chat sends them with the text', async () => {
    const chunks = await stream(CHAT, { messages: user('x'), logprobs: true });
    const tokens = chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.content ?? []);
    expect(tokens.map((entry) => entry.token).join('')).toBe(TINY_REPLY);
  });

  test('of a completion, in the legacy lists', async () => {
    const { choices } = await request(TEXT, { ...greedy, logprobs: 2 });
    expect(choices[0]?.logprobs).toMatchObject({
      tokens: ['d', 'e', 'f', 'g', 'h'],
      text_offset: [0, 1, 2, 3, 4],
    });
    const chunks = await stream(TEXT, { ...greedy, logprobs: 2 });
    expect(chunks.flatMap((chunk) => chunk.choices[0]?.logprobs?.text_offset ?? [])).toEqual([0, 1, 2, 3, 4]);
  });
});

describe.each<[string, Record<string, number>]>([
  ['temperature 0', { temp: 0 }],
  ['top_k 1', { top_k: 1, temp: 1.5 }],
])('a model file that recommends %s', (_, sampling) => {
  const flat = startTestWorker({ scores: [12, 11.9, 11.8], sampling });
  const texts = async (body: object) => {
    const { choices } = await flat.request(TEXT, { prompt: 'abc', max_tokens: 20, n: 12, ...body });
    return new Set(choices.map((choice) => choice.text)).size;
  };

  test('is the default, and a request overrides it', async () => {
    expect(await texts({})).toBe(1);
    expect(await texts({ temperature: null, top_k: null })).toBe(1);
    expect(await texts({ temperature: 5, top_k: 0, top_p: 1, min_p: 0 })).toBeGreaterThan(1);
    const chat = await flat.request(CHAT, { messages: user('abc'), max_tokens: 20, n: 6 });
    expect(new Set(chat.choices.map((choice) => choice.message?.content)).size).toBe(1);
  });
});
