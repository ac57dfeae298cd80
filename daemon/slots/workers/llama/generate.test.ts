import { expect, test } from 'vitest';
import { detokenizer } from './detokenizer.ts';
import { type GenerationEvent, generate, type Job } from './generate.ts';
import { prefillPace } from './prefill-chunks.ts';
import type { Sampled, Sequence } from './sequence.ts';

const END = 0;
const code = (text: string) => [...text].map((character) => character.charCodeAt(0));

/** A sequence that returns `script` for any prompt and counts the evaluated tokens. */
function scriptedSequence(
  script: readonly number[],
  changes: { window?: number; cached?: number; probabilities?: Sampled['probabilities'] } = {},
) {
  const counters = { evaluated: 0, sampled: 0, position: 0 };
  const sequence: Sequence = {
    window: changes.window ?? 10_000,
    get position() {
      return counters.position;
    },
    keepPrefix: async () => {
      counters.position = changes.cached ?? 0;
      return counters.position;
    },
    evaluate: async (tokens) => {
      counters.evaluated += tokens.length;
      counters.position += tokens.length;
      return 0.01 * tokens.length;
    },
    async *sample(tokens) {
      counters.position += tokens.length;
      for (const token of script) {
        counters.sampled++;
        yield { token, probabilities: changes.probabilities ?? null };
        counters.position++;
      }
    },
  };
  return { sequence, counters };
}

function job(tokens: readonly number[], changes: Partial<Job> = {}): Job {
  return {
    tokens,
    sample: {} as Job['sample'],
    maxTokens: null,
    stops: [],
    logprobs: null,
    spelling: { spell: (token) => String.fromCharCode(token), bytes: () => null },
    isComplete: () => false,
    detokenizer: detokenizer((part) => String.fromCharCode(...part)),
    isEnd: (token) => token === END,
    pace: prefillPace(512),
    onToken: () => undefined,
    ...changes,
  };
}

async function collect(events: AsyncIterable<GenerationEvent>) {
  const all: GenerationEvent[] = [];
  for await (const event of events) all.push(event);
  const done = all.find((event) => event.type === 'done');
  const text = all.map((event) => (event.type === 'text' ? event.text : '')).join('');
  return {
    text,
    finish: done?.finish,
    counts: done?.counts,
    progress: all.filter((e) => e.type === 'progress').length,
    logprobs: all.flatMap((e) => (e.type === 'text' ? (e.logprobs ?? []) : [])),
  };
}

const neverAborted = new AbortController().signal;

test('ends with the end token, which counts', async () => {
  const { sequence } = scriptedSequence([...code('hi'), END, ...code('no')]);
  const answer = await collect(generate(sequence, job([1, 2, 3]), neverAborted));
  expect(answer).toMatchObject({
    text: 'hi',
    finish: 'stop',
    counts: { promptTokens: 3, completionTokens: 3 },
  });
});

test('ends with length at the token limit, and samples nothing at a limit of zero', async () => {
  const { sequence, counters } = scriptedSequence(code('abcdef'));
  expect(await collect(generate(sequence, job([1], { maxTokens: 3 }), neverAborted))).toMatchObject({
    text: 'abc',
    finish: 'length',
  });
  counters.sampled = 0;
  const nothing = await collect(generate(sequence, job([1], { maxTokens: 0 }), neverAborted));
  expect(nothing).toMatchObject({ text: '', finish: 'length', counts: { completionTokens: 0 } });
  expect(counters.sampled).toBe(0);
});

test('emits held-back text when the answer ends inside a stop string', async () => {
  const { sequence } = scriptedSequence(code('abcdef'));
  const options = { maxTokens: 3, stops: ['cde'] };
  expect(await collect(generate(sequence, job([1], options), neverAborted))).toMatchObject({
    text: 'abc',
    finish: 'length',
  });
});

test('fills the window and never exceeds it', async () => {
  const { sequence, counters } = scriptedSequence(code('x'.repeat(100)), { window: 20 });
  const answer = await collect(generate(sequence, job(new Array(15).fill(1)), neverAborted));
  expect(answer).toMatchObject({ finish: 'length', counts: { completionTokens: 5 } });
  expect(counters.position).toBeLessThanOrEqual(19);
});

test('reads a long prompt in parts and skips cached tokens', async () => {
  const { sequence, counters } = scriptedSequence([END], { cached: 100 });
  const answer = await collect(generate(sequence, job(new Array(2000).fill(1)), neverAborted));
  expect(answer.counts).toMatchObject({ promptTokens: 2000, cachedTokens: 100 });
  expect(answer.progress).toBeGreaterThanOrEqual(3);
  expect(counters.position).toBe(2000);
});

test('stops at the next part when the caller disconnects during the prompt', async () => {
  const leaving = new AbortController();
  const { sequence, counters } = scriptedSequence([END]);
  for await (const event of generate(sequence, job(new Array(5000).fill(1)), leaving.signal)) {
    if (event.type === 'progress') leaving.abort();
  }
  expect(counters).toMatchObject({ evaluated: 64, sampled: 0 });
});

test('notices a disconnect reported by the event loop within 8 tokens', async () => {
  const leaving = new AbortController();
  const { sequence, counters } = scriptedSequence(code('x'.repeat(5000)));
  setImmediate(() => leaving.abort());
  const answer = await collect(generate(sequence, job([1]), leaving.signal));
  expect(answer.finish).toBeUndefined();
  expect(counters.sampled).toBeLessThanOrEqual(17);
});

test('fails when the engine stops without an end token', async () => {
  const { sequence } = scriptedSequence(code('ab'));
  await expect(collect(generate(sequence, job([1]), neverAborted))).rejects.toThrow('without an end token');
});

test('ends when the reader needs no more', async () => {
  const { sequence, counters } = scriptedSequence(code('abcdef'));
  let text = '';
  const endsEarly = job([1], { isComplete: () => text.length >= 2 });
  for await (const event of generate(sequence, endsEarly, neverAborted))
    if (event.type === 'text') text += event.text;
  expect(text).toBe('ab');
  expect(counters.sampled).toBe(2);
});

const probabilities = new Map([
  [97, 0.5],
  [98, 0.25],
]);

test.each([
  ['at its end token', [...code('ab'), END], {}, 'ab', ['a', 'b']],
  ['at max tokens', code('abc'), { maxTokens: 2 }, 'ab', ['a', 'b']],
  ['at a stop string', code('abcd'), { stops: ['cd'] }, 'ab', ['a', 'b']],
  ['within a stop string', [...code('abc'), END], { stops: ['cd'] }, 'abc', ['a', 'b', 'c']],
])(
  'returns the probabilities of the emitted tokens for an answer that ends %s',
  async (_, script, changes, text, tokens) => {
    const { sequence } = scriptedSequence(script, { probabilities });
    const answer = await collect(generate(sequence, job([1], { ...changes, logprobs: 1 }), neverAborted));
    expect(answer.text).toBe(text);
    expect(answer.logprobs.map((entry) => entry.token)).toEqual(tokens);
    expect(answer.logprobs[1]).toEqual({
      token: 'b',
      added: 1,
      logprob: Math.log(0.25),
      top: [{ token: 'a', logprob: Math.log(0.5) }],
    });
  },
);
