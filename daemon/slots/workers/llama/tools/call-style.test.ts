import { expect, test } from 'vitest';
import { CHAT, type WholeChoice } from '../chat-response.ts';
import type { AnswerEvent } from '../choices.ts';
import { wholeAnswer } from '../full-response.ts';
import { NO_COUNTS } from '../usage.ts';
import { styledCalls } from './call-style.ts';
import type { CallStyle, Piece } from './pieces.ts';

const HEAD = { id: 'c', created: 1, model: 'm' };
const call = (index: number, name: string): Piece => ({ type: 'call', index, id: `call_${index}`, name });
const args = (index: number, text: string): Piece => ({ type: 'arguments', index, text });

/** Emits each piece alone, as one choice. */
async function* answerOf(choices: readonly (readonly Piece[])[]): AsyncGenerator<AnswerEvent> {
  yield { type: 'started' };
  for (const [choice, pieces] of choices.entries()) {
    for (const piece of pieces) yield { type: 'pieces', choice, pieces: [piece], logprobs: null };
    const finish = pieces.some(({ type }) => type === 'call') ? 'tool_calls' : 'stop';
    yield { type: 'choice', choice, finish, counts: NO_COUNTS };
  }
  yield { type: 'done', counts: NO_COUNTS };
}

interface Delta {
  delta: object;
  finish_reason: string | null;
}

async function streamed(choices: readonly (readonly Piece[])[], style?: CallStyle): Promise<Delta[]> {
  const out: Delta[] = [];
  for await (const event of styledCalls(answerOf(choices), style)) {
    const { choice = 0 } = event as { choice?: number };
    const parts =
      event.type === 'pieces'
        ? event.pieces.map((piece) => CHAT.part(HEAD, { choice, piece, logprobs: null, offset: 0 }))
        : event.type === 'choice'
          ? [CHAT.finish(HEAD, choice, event)]
          : [];
    for (const part of parts) {
      const [first] = (part as { choices: Delta[] }).choices;
      if (first !== undefined) out.push({ delta: first.delta, finish_reason: first.finish_reason });
    }
  }
  return out;
}

async function whole(choices: readonly (readonly Piece[])[], style?: CallStyle): Promise<object[]> {
  const answer = await wholeAnswer(styledCalls(answerOf(choices), style));
  const { choices: written } = CHAT.whole(HEAD, answer?.choices as WholeChoice[], NO_COUNTS) as {
    choices: { message: object; finish_reason: string }[];
  };
  return written.map(({ message, finish_reason }) => ({ ...message, finish_reason }));
}

const LEGACY: CallStyle = { legacy: true, custom: new Set() };
const CUSTOM: CallStyle = { legacy: false, custom: new Set(['sql']) };

test("a call of OpenAI's older API, in a stream and complete", async () => {
  const pieces = [call(0, 'f'), args(0, '{"a"'), args(0, ':1}')];
  expect(await streamed([pieces], LEGACY)).toEqual([
    { delta: { function_call: { name: 'f', arguments: '' } }, finish_reason: null },
    { delta: { function_call: { arguments: '{"a"' } }, finish_reason: null },
    { delta: { function_call: { arguments: ':1}' } }, finish_reason: null },
    { delta: {}, finish_reason: 'function_call' },
  ]);
  const message = { role: 'assistant', content: null, refusal: null };
  const function_call = { name: 'f', arguments: '{"a":1}' };
  expect(await whole([pieces], LEGACY)).toEqual([
    { ...message, function_call, finish_reason: 'function_call' },
  ]);
  expect(await whole([[{ type: 'text', text: 'hi' }]], LEGACY)).toEqual([
    { ...message, content: 'hi', finish_reason: 'stop' },
  ]);
});

test('calls of a custom tool beside those of a function, in several choices', async () => {
  const pieces = [call(0, 'f'), args(0, '{}'), call(1, 'sql'), args(1, '{"input":"SELECT '), args(1, '1"}')];
  const again = [call(0, 'sql'), args(0, '{"input":"x"}')];
  const custom = (index: number, input: string) => [
    {
      delta: {
        tool_calls: [{ index, id: `call_${index}`, type: 'custom', custom: { name: 'sql', input: '' } }],
      },
      finish_reason: null,
    },
    { delta: { tool_calls: [{ index, custom: { input } }] }, finish_reason: null },
  ];
  const plain = { id: 'call_0', type: 'function', function: { name: 'f', arguments: '{}' } };
  expect((await streamed([pieces, again], CUSTOM)).slice(2)).toEqual([
    ...custom(1, 'SELECT 1'),
    { delta: {}, finish_reason: 'tool_calls' },
    ...custom(0, 'x'),
    { delta: {}, finish_reason: 'tool_calls' },
  ]);
  expect(await whole([pieces, again], CUSTOM)).toMatchObject([
    { tool_calls: [plain, { id: 'call_1', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } }] },
    { tool_calls: [{ id: 'call_0', type: 'custom', custom: { name: 'sql', input: 'x' } }] },
  ]);
});

test.each([
  ['{"input":"a\\nb \\"c\\""}', 'a\nb "c"'],
  ['{"input":""}', ''],
  ['{}', ''],
  ['{"input":{"a":1}}', '{"a":1}'],
  ['{"input":"cut off', 'cut off'],
  ['{"input":"whole"', 'whole'],
  ['no JSON', 'no JSON'],
  ['5', '5'],
  ['', ''],
])('the input of a custom tool in %j is %j', async (text, input) => {
  const [, part] = await streamed([[call(0, 'sql'), args(0, text)]], CUSTOM);
  expect(part?.delta).toEqual({ tool_calls: [{ index: 0, custom: { input } }] });
});

test('other answers are unchanged', async () => {
  const pieces = [call(0, 'sql'), args(0, '{"input":"x"}')];
  const function_ = { name: 'sql', arguments: '{"input":"x"}' };
  expect(await whole([pieces])).toMatchObject([
    { tool_calls: [{ id: 'call_0', type: 'function', function: function_ }], finish_reason: 'tool_calls' },
  ]);
});
