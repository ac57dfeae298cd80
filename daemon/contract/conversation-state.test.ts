import { describe, expect, it } from 'vitest';
import { COMPUTED_REASONS, type ComputedReason } from './conversation-reasons.ts';
import { type ConversationState, conversationHeader, readConversationHeader } from './conversation-state.ts';
import { conversationText, slotConversationsText } from './conversation-texts.ts';

const STATES: readonly [string, ConversationState][] = [
  ['restored; tokens=812; from=disk', { outcome: 'restored', tokens: 812, from: 'disk', reason: null }],
  ['reused; tokens=40', { outcome: 'reused', tokens: 40, from: null, reason: null }],
  ...(Object.keys(COMPUTED_REASONS) as ComputedReason[]).map((reason): [string, ConversationState] => [
    `computed; tokens=0; reason=${reason}`,
    { outcome: 'computed', tokens: 0, from: null, reason },
  ]),
];

describe('the header of a conversation', () => {
  it.each(STATES)('%s', (header, state) => {
    expect(conversationHeader(state)).toBe(header);
    expect(readConversationHeader(header)).toEqual(state);
    expect(conversationText(state)).toMatch(/^[A-Z].*\.$/);
  });

  it.each([
    undefined,
    '',
    'restored',
    'restored; tokens=-1; from=disk',
    'restored; tokens=x',
    'lost; tokens=1',
    'computed; tokens=0; reason=__proto__',
    ['reused; tokens=1'],
  ])('reads %j as none', (header) => {
    expect(readConversationHeader(header)).toBeNull();
  });
});

it('says how many conversations a slot has saved, or why none', () => {
  expect(slotConversationsText({ from: 'disk', reason: null }, 1)).toContain(
    '1 conversation is saved on disk',
  );
  expect(slotConversationsText({ from: 'memory', reason: null }, 2)).toContain(
    '2 conversations are saved in memory',
  );
  expect(slotConversationsText({ from: null, reason: 'kv_cache.persist is off.' }, 0)).toBe(
    'Conversations are not saved: kv_cache.persist is off.',
  );
});
