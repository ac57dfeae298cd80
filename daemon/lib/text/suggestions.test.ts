import fc from 'fast-check';
import { expect, test } from 'vitest';
import { distance, suggestions } from './suggestions.ts';

test('returns similar names, best first', () => {
  const names = ['qwen3-30b-a3b', 'qwen3-32b', 'agent', 'svc/agent', 'llama'];
  expect(suggestions('qwen3-32', names)[0]).toBe('qwen3-32b');
  expect(suggestions('agnet', names)).toEqual(['agent']);
  expect(suggestions('Agent', names)).toEqual(['agent', 'svc/agent']);
  expect(suggestions('zzzzzz', names)).toEqual([]);
});

test('the work is bounded', () => {
  expect(suggestions('x'.repeat(1000), ['x'])).toEqual([]);
  const many = Array.from({ length: 100_000 }, (_, index) => `model-${index}`);
  expect(suggestions('model-1', many)).toHaveLength(5);
});

test('distance is a metric within its limit', () => {
  const word = fc.string({ maxLength: 8 });
  fc.assert(
    fc.property(word, word, (a, b) => {
      expect(distance(a, b, 20)).toBe(distance(b, a, 20));
      expect(distance(a, b, 20) === 0).toBe(a === b);
      expect(distance(a, b, 2)).toBe(Math.min(3, distance(a, b, 20)));
    }),
  );
});
