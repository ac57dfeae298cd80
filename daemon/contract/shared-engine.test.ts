import { describe, expect, it } from 'vitest';
import { sharedEngineText, staysLoadedText, usesOtherEngine } from './shared-engine.ts';
import { slotRecord } from './testing/slot-record.ts';

const shared = (slot: string | null, used_by: string[]) => ({ slot, with: ['b', 'c'], used_by });
const record = (more: Parameters<typeof slotRecord>[0]) => slotRecord(more);

it('names the slots that share', () => {
  expect(sharedEngineText(record({ name: 'a', shared_engine: shared('a', ['a']) }))).toBe(
    'Shares its engine with b and c',
  );
  expect(sharedEngineText(record({ name: 'a' }))).toBeNull();
});

it.each([
  ['its own engine', 'a', false],
  ['the engine of another slot', 'b', true],
  ['no engine', null, false],
])('the figures of %s', (_, slot, expected) => {
  expect(usesOtherEngine(record({ name: 'a', shared_engine: shared(slot, []) }))).toBe(expected);
  expect(usesOtherEngine(record({ name: 'a' }))).toBe(false);
});

describe('an engine that stays loaded after an unload', () => {
  it.each([
    ['for another slot', 'ready', ['b'], 'The engine stays loaded for b'],
    ['for the slot itself', 'ready', ['a', 'b'], null],
    ['for none', 'stopping', [], null],
    ['not at all', 'offline', [], null],
  ] as const)('%s', (_, state, users, expected) => {
    const one = record({ name: 'a', state, shared_engine: shared('b', [...users]) });
    expect(staysLoadedText(one)).toBe(expected);
  });
});
