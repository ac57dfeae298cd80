import { expect, test } from 'vitest';
import { type AnswerJob, type AnswerPrompt, answerChoices } from './choices.ts';
import { wholeAnswer } from './full-response.ts';
import { PLAIN_TEXT } from './response-reader.ts';
import { toolFamily } from './tools/family.ts';

const neverAborted = new AbortController().signal;
const counts = { promptTokens: 5, cachedTokens: 2, completionTokens: 3, promptMs: 1, predictedMs: 1 };

/** Answers each choice with its prompt, its number and `pieces`. */
const answering = (pieces: string): AnswerPrompt =>
  async function* ({ tokens, n, isComplete }) {
    yield { type: 'started' };
    for (let choice = 0; choice < n; choice++) {
      for (const text of [`${tokens[0]}.${choice} `, ...pieces]) {
        if (!isComplete()) yield { type: 'text', choice, text, logprobs: null };
      }
      yield { type: 'done', choice, finish: 'stop', counts };
    }
  };

const answerJob = (changes: Partial<AnswerJob> = {}): AnswerJob => ({
  prompts: [[1]],
  readOptions: PLAIN_TEXT,
  relaxed: [],
  generation: {} as AnswerJob['generation'],
  n: 1,
  gate: null,
  marks: [],
  echoes: null,
  ...changes,
});

test('numbers choices across all prompts and starts each with its echo', async () => {
  const job = answerJob({ prompts: [[7], [8]], n: 2, echoes: ['A:', 'B:'] });
  const whole = await wholeAnswer(answerChoices(answering('x'), job, neverAborted));
  expect(whole?.choices.map(({ index, text }) => [index, text])).toEqual([
    [0, 'A:7.0 x'],
    [1, 'A:7.1 x'],
    [2, 'B:8.0 x'],
    [3, 'B:8.1 x'],
  ]);
  expect(whole?.counts).toMatchObject({ promptTokens: 10, cachedTokens: 4, completionTokens: 12 });
});

test('finishes choices with calls as tool_calls, each with its own calls', async () => {
  const readOptions = {
    thoughts: null,
    calls: {
      family: toolFamily('<tool_call>'),
      tools: new Map(['f'].map((name) => [name, null])),
      parallel: false,
    },
  };
  const text = '<tool_call>{"name":"f","arguments":{"a":1}}</tool_call><tool_call>{"name":"f"}</tool_call>';
  const whole = await wholeAnswer(
    answerChoices(answering(text), answerJob({ n: 2, readOptions }), neverAborted),
  );
  for (const choice of whole?.choices ?? []) {
    expect(choice).toMatchObject({ finish: 'tool_calls', calls: [{ name: 'f', arguments: '{"a":1}' }] });
    expect(choice.calls).toHaveLength(1);
  }
});

test('sends no end after the caller disconnects', async () => {
  const leaving = new AbortController();
  leaving.abort();
  expect(await wholeAnswer(answerChoices(async function* () {}, answerJob(), leaving.signal))).toBeNull();
});

test('reports the totals with the last choice and own counts with the others', async () => {
  const reported: (number | undefined)[][] = [];
  const job = answerJob({ prompts: [[7], [8]], n: 2 });
  for await (const event of answerChoices(answering('x'), job, neverAborted)) {
    if (event.type === 'choice') reported.push([event.counts.promptTokens, event.counts.completionTokens]);
  }
  expect(reported).toEqual([
    [5, 3],
    [5, 3],
    [5, 3],
    [10, 12],
  ]);
});
