import { expect, test } from 'vitest';
import { findVoice, unknownVoiceMessage } from './voice-name.ts';

const IDS = ['Anna', 'anna', 'ben'];

test.each([
  ['anna', 1],
  ['Anna', 0],
  ['ANNA', 0],
  ['Ben', 2],
  ['alloy', 7],
  ['Shimmer', 7],
  ['nosuch', null],
])('%s selects %s', (requested, index) => expect(findVoice(IDS, requested, 7)).toBe(index));

test('an unknown voice is refused with the available ones, up to a limit', () => {
  expect(unknownVoiceMessage(IDS, 'nosuch')).toBe('there is no voice "nosuch"; available: Anna, anna, ben');
  const many = Array.from({ length: 41 }, (_, at) => `v${at}`);
  expect(unknownVoiceMessage(many, 'x'.repeat(100))).toMatch(
    /^there is no voice "x{64}"; available: v0, .*v39 and 1 more$/,
  );
});
