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
const userAudio = (transcript: string | null) => message('user', { type: 'input_audio', transcript });
const assistantAudio = (transcript: string) => message('assistant', { type: 'output_audio', transcript });
const call = (status: ItemStatus): Item => ({
  ...common('call', status),
  type: 'function_call',
  call_id: 'c',
  name: 'f',
  arguments: '{}',
});
const RESULT: Item = { ...common('result'), type: 'function_call_output', call_id: 'c', output: '7' };
const IMAGE = message('user', { type: 'input_image', image_url: 'data:image/png;base64,AA==' });
const ADVICE = message('system', { type: 'input_text', text: 'Be brief.' });

test.each<[string, Item[], boolean]>([
  ['nothing', [], false],
  ['words', [userAudio('hello')], true],
  ['an image', [IMAGE], true],
  ['audio without words', [userAudio(' ')], false],
  ['audio that is not transcribed yet', [userAudio(null)], false],
  ['words before audio without words', [userAudio('hello'), userAudio('')], true],
  ['words after a response', [userAudio('hello'), assistantAudio('Hi.'), userAudio('and?')], true],
  ['a response', [userAudio('hello'), assistantAudio('Hi.'), userAudio('')], false],
  ['a response of which nothing was spoken', [userAudio('hello'), assistantAudio(''), userAudio('')], true],
  ['a call', [userAudio('hello'), call('completed'), userAudio('')], false],
  ['a truncated call', [userAudio('hello'), call('incomplete'), userAudio('')], true],
  ['the result of a call', [userAudio('hello'), call('completed'), RESULT, userAudio('')], true],
  ['instructions alone', [ADVICE], false],
  ['instructions after words', [userAudio('hello'), ADVICE], true],
])('%s', (_, items, expected) =>
  expect(needsResponse({ items, pendingTurns: [], dismissedItemId: null })).toBe(expected),
);

test('a pending turn with content counts at its position', () => {
  const turn = (transcript: string): Item => ({
    ...spokenItem('turn'),
    content: [{ type: 'input_audio', transcript }],
  });
  const needsResponseTo = (transcript: string, pendingTurn: string) =>
    needsResponse({
      items: [turn(transcript), assistantAudio('Hi.')],
      pendingTurns: [pendingTurn],
      dismissedItemId: null,
    });
  expect(needsResponseTo('and?', 'turn')).toBe(true);
  expect(needsResponseTo('', 'turn')).toBe(false);
  expect(needsResponseTo('and?', 'deleted')).toBe(false);
});

test('dismissed input no longer counts, but later input does', () => {
  const first = { ...spokenItem('first'), content: [{ type: 'input_text', text: 'hello' }] } as const;
  const dismissed = 'first';
  expect(needsResponse({ items: [first, userAudio('')], pendingTurns: [], dismissedItemId: dismissed })).toBe(
    false,
  );
  expect(
    needsResponse({ items: [first, userAudio('and?')], pendingTurns: [], dismissedItemId: dismissed }),
  ).toBe(true);
});
