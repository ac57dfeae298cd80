import { expect, test } from 'vitest';
import { speakable } from './speakable.ts';

test.each([
  ['a', true],
  ['7', true],
  ['é', true],
  ['好', true],
  ['٣', true],
  [' .,!?\n-', false],
  ['😄', false],
  ['…', false],
  ['**', false],
  ['', false],
])('%j is speakable: %s', (text, isSpeakable) => expect(speakable(text)).toBe(isSpeakable));
