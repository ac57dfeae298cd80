import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzing } from '../../../../test/harness/scale.ts';
import { type CapturedAnswer, captured } from '../../testing/captured.ts';
import { cuts } from '../../testing/cuts.ts';
import { chatPlan } from '../chat-plan.ts';
import { chatRequest } from '../chat-request.ts';
import { CHAT } from '../chat-response.ts';
import { AnswerReader } from '../response-reader.ts';
import { toolFamily } from './family.ts';
import type { Piece } from './pieces.ts';

/** Text by which the templates of each family are recognised. */
const FAMILY_MARKERS: Readonly<Record<string, string>> = {
  hermes: '<tool_call>',
  llama3: '<|python_tag|>',
  json: '',
  mistral: '[TOOL_CALLS]',
  harmony: '<|channel|>',
  'qwen-coder': '<tool_call><function=',
  deepseek: '<｜tool▁calls▁begin｜>',
};
const FILES = ['hermes', 'llama3', 'json', 'mistral', 'harmony', 'qwen-coder', 'thinking'];
const HEAD = { id: 'chatcmpl-1', created: 0, model: 'm' };

interface Delta {
  content?: string;
  reasoning_content?: string;
  tool_calls?: { index: number; id?: string; function: { name?: string; arguments: string } }[];
}

/** Returns the joined stream deltas of an answer that arrives in `pieces`. */
function streamed({ tools, prompt: text = '' }: CapturedAnswer, family: string, pieces: readonly string[]) {
  const request = chatRequest({
    messages: [{ role: 'user', content: 'go' }],
    tools: Object.entries(tools).map(([name, parameters]) => ({
      type: 'function',
      function: { name, parameters },
    })),
  });
  const { readOptions } = chatPlan(request, toolFamily(FAMILY_MARKERS[family] as string), {
    head: text,
    text,
  });
  const reader = new AnswerReader(readOptions);
  const found: Piece[] = [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
  const message = {
    content: '',
    reasoning_content: '',
    tool_calls: [] as { name: string; arguments: string }[],
  };
  const ids: string[] = [];
  for (const piece of found) {
    const { choices } = CHAT.part(HEAD, { choice: 0, piece, logprobs: null, offset: 0 }) as {
      choices: { delta: Delta }[];
    };
    const {
      content = '',
      reasoning_content: thoughts = '',
      tool_calls: calls = [],
    } = choices[0]?.delta ?? {};
    message.content += content;
    message.reasoning_content += thoughts;
    for (const { index, id, function: called } of calls) {
      if (id !== undefined) ids.push(id);
      if (called.name !== undefined) message.tool_calls.push({ name: called.name, arguments: '' });
      expect(index, 'calls come one after the other').toBe(message.tool_calls.length - 1);
      (message.tool_calls[index] as { arguments: string }).arguments += called.arguments;
    }
  }
  expect(ids).toHaveLength(message.tool_calls.length);
  expect(new Set(ids).size).toBe(ids.length);
  return message;
}

function expectMessage(entry: CapturedAnswer, actual: ReturnType<typeof streamed>): void {
  const { content, reasoning_content: thoughts = '', tool_calls: calls } = entry.message;
  expect(actual.content).toBe(content);
  expect(actual.reasoning_content).toBe(thoughts);
  expect(actual.tool_calls.map((call) => call.name)).toEqual(calls.map((call) => call.name));
  for (const [i, { arguments: args }] of calls.entries()) {
    const text = actual.tool_calls[i]?.arguments as string;
    const whole = entry.broken !== true && (entry.cut !== true || i < calls.length - 1);
    if (whole) expect(JSON.parse(text)).toEqual(args);
    else expect(() => JSON.parse(text)).toThrow();
  }
}

describe.each(FILES)('answers of real models: %s', (name) => {
  const entries = captured(name);

  test.each(entries.map((entry, i) => ({ ...entry, i })))('$i $model, $source', ({ i }) => {
    const entry = entries[i] as CapturedAnswer;
    const family = entry.family ?? name;
    const whole = streamed(entry, family, [entry.raw]);
    expectMessage(entry, whole);
    for (const pieces of cuts(entry.raw))
      expect(streamed(entry, family, pieces), JSON.stringify(pieces)).toEqual(whole);
  });

  test('any split into pieces', () => {
    const cut = fc.record({ i: fc.nat(entries.length - 1), sizes: fc.array(fc.integer({ min: 1, max: 9 })) });
    fc.assert(
      fc.property(cut, ({ i, sizes }) => {
        const entry = entries[i] as CapturedAnswer;
        const family = entry.family ?? name;
        const pieces: string[] = [];
        let rest = entry.raw;
        for (const size of sizes) {
          pieces.push(rest.slice(0, size));
          rest = rest.slice(size);
        }
        expect(streamed(entry, family, [...pieces, rest])).toEqual(streamed(entry, family, [entry.raw]));
      }),
      fuzzing(`captured ${name}`, 5_000),
    );
  });
});
