import { expect, test } from 'vitest';
import { cuts } from '../testing/cuts.ts';
import { textGate } from './text-gate.ts';

test('opens once the mark has passed, for any split', () => {
  for (const pieces of cuts('ab</</think>')) {
    const gate = textGate('</think>');
    const opened = pieces.map((piece) => {
      gate.push(piece);
      return gate.open;
    });
    expect(opened.at(-1)).toBe(true);
    expect(opened.slice(0, -1)).not.toContain(true);
  }
});

test('is open without a mark', () => {
  expect(textGate(null).open).toBe(true);
  expect(textGate('x').open).toBe(false);
});
