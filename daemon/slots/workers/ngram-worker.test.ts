import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CHATML } from '../../models/testing/gguf/chat-templates.ts';
import { attentiveModel } from './testing/attentive-model.ts';
import { forkWorker, modelFile } from './testing/forked-worker.ts';
import { type AnswerView, CHAT, startTestWorker, TEXT, user } from './testing/worker-client.ts';

const RUN = 'abcdefghijklmnopqrstuvwxyz';
const OPTIONS = { context: 4096, parallel: 1 };
const SCHEMA = {
  type: 'json_schema',
  json_schema: {
    name: 'a',
    schema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  },
};
const TOOLS = [
  {
    type: 'function',
    function: { name: 'get_time', parameters: { type: 'object', properties: { zone: { type: 'string' } } } },
  },
];

describe('an engine that predicts tokens from repeats', () => {
  const plain = startTestWorker({}, OPTIONS);
  const ahead = startTestWorker({}, { ...OPTIONS, ngramTokens: 4 });
  const both = (path: string, body: object) =>
    Promise.all([plain, ahead].map((client) => client.request(path, { temperature: 0, ...body })));

  test('needs fewer steps for a text that repeats, with the same answer', async () => {
    const body = { prompt: `${RUN} ${RUN} ${RUN} abc`, max_tokens: 60 };
    const before = await Promise.all([plain, ahead].map((client) => client.worker().health()));
    const [one, other] = await both(TEXT, body);
    const after = await Promise.all([plain, ahead].map((client) => client.worker().health()));
    expect(other?.choices[0]?.text).toBe(one?.choices[0]?.text);
    expect(other?.usage).toEqual(one?.usage);
    const steps = after.map((health, index) => (health.batches ?? 0) - (before[index]?.batches ?? 0));
    expect(steps[1]).toBeLessThan(0.65 * (steps[0] ?? 0));
  });

  test('a request switches predictions on and off, with the same answer', async () => {
    const body = { prompt: `${RUN} ${RUN} ${RUN} abc`, max_tokens: 60, temperature: 0 };
    for (const client of [plain, ahead]) {
      const steps: Record<string, number> = {};
      const texts = new Set<string | undefined>();
      for (const speculation of ['off', 'ngram', 'off', 'ngram'] as const) {
        const before = (await client.worker().health()).batches ?? 0;
        const answer = await client.request(TEXT, { ...body, speculation });
        texts.add(answer.choices[0]?.text);
        steps[speculation] = ((await client.worker().health()).batches ?? 0) - before;
      }
      expect(texts.size).toBe(1);
      expect(steps.ngram).toBeLessThan(0.65 * (steps.off ?? 0));
    }
  });

  test('a conversation is not read again when a request switches predictions', async () => {
    const words = `${RUN} ${RUN} ${RUN} `.repeat(4);
    for (const client of [plain, ahead]) {
      let messages = user(words);
      const texts: string[] = [];
      for (const speculation of ['off', 'ngram', 'ngram', 'off', 'ngram', 'off'] as const) {
        const body = { messages, max_tokens: 24, temperature: 0 };
        const { choices, usage } = await client.request(CHAT, { ...body, speculation });
        const text = choices[0]?.message?.content ?? '';
        const cached = usage?.prompt_tokens_details.cached_tokens ?? 0;
        // The prefix ends where the template continues differently after the answer.
        if (texts.length > 0) expect(cached).toBeGreaterThan(0.8 * (usage?.prompt_tokens ?? 0));
        texts.push(text);
        messages = [...messages, { role: 'assistant', content: text }, ...user('and then?')];
      }
      expect(texts).toHaveLength(6);
    }
  });

  test('refuses another way of speculation', async () => {
    const response = await plain.worker().post(TEXT, { prompt: 'abc', speculation: 'draft' });
    expect(response.status).toBe(422);
  });

  test.each([
    ['a chat', CHAT, { messages: user(RUN) }],
    ['a stop string', TEXT, { prompt: `${RUN} ${RUN} abc`, stop: ['klm'], max_tokens: 40 }],
    ['a schema', CHAT, { messages: user(RUN), response_format: SCHEMA }],
    ['tools', CHAT, { messages: user(RUN), tools: TOOLS }],
    ['a required tool', CHAT, { messages: user(RUN), tools: TOOLS, tool_choice: 'required' }],
    ['logprobs', TEXT, { prompt: `${RUN} ${RUN} abc`, logprobs: 2, max_tokens: 20 }],
    ['penalties', TEXT, { prompt: `${RUN} ${RUN} abc`, frequency_penalty: 2, max_tokens: 40 }],
    ['a continued text', TEXT, { prompt: `${RUN} ${RUN} abcdefgh`, max_tokens: 40 }],
    ['a seed', TEXT, { prompt: `${RUN} abc`, temperature: 0.3, seed: 4, max_tokens: 30 }],
  ])('gives the same answer to %s', async (_, path, body) => {
    const [one, other] = await both(path, body);
    expect(withoutIds(other)).toEqual(withoutIds(one));
  });
});

test('the answers of a model that depends on every token are the same', async () => {
  const file = await modelFile(attentiveModel({ template: CHATML }));
  const workers = await Promise.all(
    [0, 3].map((ngramTokens) => forkWorker(file.path, { ...OPTIONS, ngramTokens })),
  );
  try {
    await Promise.all(workers.map(({ ready }) => ready));
    await fc.assert(
      fc.asyncProperty(
        fc.string({ minLength: 2, maxLength: 12 }),
        fc.integer({ min: 1, max: 12 }),
        async (text, times) => {
          const body = { messages: user(text.repeat(times)), temperature: 0, max_tokens: 24 };
          const answers = await Promise.all(
            workers.map(async (worker) => (await (await worker.post(CHAT, body)).json()) as AnswerView),
          );
          expect(withoutIds(answers[1])).toEqual(withoutIds(answers[0]));
        },
      ),
      { numRuns: 20 },
    );
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await file.remove();
  }
}, 120_000);

/** The parts of an answer that another run repeats. */
const withoutIds = (answer: AnswerView | undefined): object =>
  (answer?.choices ?? []).map(({ text, message, finish_reason, logprobs }) => ({
    text,
    content: message?.content,
    calls: message?.tool_calls?.map((call) => call.function),
    finish_reason,
    tokens: logprobs?.tokens,
  }));
