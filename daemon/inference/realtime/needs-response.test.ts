import { expect, test } from 'vitest';
import { type Item, type ItemStatus, type Part, spokenItem } from './items.ts';
import { needsResponse } from './needs-response.ts';

const common = (id: string, status: ItemStatus = 'completed') =>
  ({ id, object: 'realtime.item', status }) as const;
const message = (role: 'user' | 'assistant' | 'system', part: Part): Item => ({
  ...common(role),
  type: 'message',
  role,
  content: [part],
});
const heard = (transcript: string | null) => message('user', { type: 'input_audio', transcript });
const said = (transcript: string) => message('assistant', { type: 'output_audio', transcript });
const call = (status: ItemStatus): Item => ({
  ...common('call', status),
  type: 'function_call',
  call_id: 'c',
  name: 'f',
  arguments: '{}',
});
const RESULT: Item = { ...common('result'), type: 'function_call_output', call_id: 'c', output: '7' };
const PICTURE = message('user', { type: 'input_image', image_url: 'data:image/png;base64,AA==' });
const ADVICE = message('system', { type: 'input_text', text: 'Be brief.' });

test.each<[string, Item[], boolean]>([
  ['nothing', [], false],
  ['words', [heard('hello')], true],
  ['a picture', [PICTURE], true],
  ['sound without words', [heard(' ')], false],
  ['sound that is not understood yet', [heard(null)], false],
  ['words before sound without any', [heard('hello'), heard('')], true],
  ['words behind an answer', [heard('hello'), said('Hi.'), heard('and?')], true],
  ['an answer', [heard('hello'), said('Hi.'), heard('')], false],
  ['an answer of which nothing was said', [heard('hello'), said(''), heard('')], true],
  ['a call', [heard('hello'), call('completed'), heard('')], false],
  ['a call that was cut', [heard('hello'), call('incomplete'), heard('')], true],
  ['the result of a call', [heard('hello'), call('completed'), RESULT, heard('')], true],
  ['advice alone', [ADVICE], false],
  ['advice behind words', [heard('hello'), ADVICE], true],
])('%s', (_, items, expected) =>
  expect(needsResponse({ items, pendingTurns: [], dismissedItemId: null })).toBe(expected),
);

test('a pending turn with content counts at its position', () => {
  const turn = (transcript: string): Item => ({
    ...spokenItem('turn'),
    content: [{ type: 'input_audio', transcript }],
  });
  const asked = (transcript: string, owed: string) =>
    needsResponse({ items: [turn(transcript), said('Hi.')], pendingTurns: [owed], dismissedItemId: null });
  expect(asked('and?', 'turn')).toBe(true);
  expect(asked('', 'turn')).toBe(false);
  expect(asked('and?', 'deleted')).toBe(false);
});

test('dismissed input no longer counts, but later input does', () => {
  const first = { ...spokenItem('first'), content: [{ type: 'input_text', text: 'hello' }] } as const;
  const dismissed = 'first';
  expect(needsResponse({ items: [first, heard('')], pendingTurns: [], dismissedItemId: dismissed })).toBe(
    false,
  );
  expect(needsResponse({ items: [first, heard('and?')], pendingTurns: [], dismissedItemId: dismissed })).toBe(
    true,
  );
});
