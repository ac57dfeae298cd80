import { expect, test } from 'vitest';
import type { EffortFallback } from '../forward/effort-support.ts';
import { scanBody, TRANSLATED_NAMES } from './body-index.ts';
import { render } from './edits.ts';
import { effort, effortOf } from './effort.ts';

const TEXT = '{"reasoning_effort":"high","model":"m","messages":[],"tools":[]}';
const bodyIndexOf = (text: string) => scanBody(Buffer.from(text), TRANSLATED_NAMES);
const sent = (fallback: EffortFallback | undefined, index = bodyIndexOf(TEXT)) =>
  String(
    render(index, effort({ index, effortFallback: fallback, local: false, thinkingDefault: () => null })),
  );

test('the effort is sent as requested, as none, or not at all', () => {
  expect(sent(undefined)).toBe(TEXT);
  expect(sent('none')).toBe(TEXT.replace('high', 'none'));
  expect(sent('left out')).toBe('{"model":"m","messages":[],"tools":[]}');
});

test('a chat without an effort, or one that is not translated, stays unchanged', () => {
  const without = '{"messages":[]}';
  expect(sent('none', bodyIndexOf(without))).toBe(without);
  expect(sent('left out', scanBody(Buffer.from(TEXT)))).toBe(TEXT);
});

test.each([
  [TEXT, { effort: 'high', tools: true }],
  ['{"reasoning_effort":"low","messages":[]}', { effort: 'low', tools: false }],
  ['{"reasoning_effort":null,"messages":[]}', null],
  ['{"messages":[]}', null],
])('%s requests %j', (text, expected) => expect(effortOf(bodyIndexOf(text))).toEqual(expected));
