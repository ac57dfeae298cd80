import fc from 'fast-check';
import type { BatchItem, Token } from 'node-llama-cpp';
import { expect, test } from 'vitest';
import { BatchPlan, sequencePriority } from './batch-plan.ts';

const item = (length: number, sequence: number): BatchItem => ({
  tokens: Array.from({ length }, () => 1 as Token),
  logits: [],
  evaluationPriority: sequencePriority(sequence),
});
const waiting = (lengths: readonly number[]): BatchItem[] => lengths.map(item);

const amountsOf = (lengths: readonly number[], size: number): number[] =>
  new BatchPlan().divide({ items: waiting(lengths), size }).map(({ processAmount }) => processAmount);

test.each([
  [[1, 1, 1, 1], 512, [1, 1, 1, 1]],
  [[600, 1, 1], 512, [510, 1, 1]],
  [[600, 600], 512, [256, 256]],
  [[600, 100, 600], 512, [206, 100, 206]],
  [[5], 4, [4]],
])('%j in a batch of %i', (lengths, size, expected) => {
  expect(amountsOf(lengths, size)).toEqual(expected);
});

test('every sequence gets a share, none more than it needs, and no space is wasted', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 16 });
  fc.assert(
    fc.property(lengths, fc.integer({ min: 16, max: 512 }), (all, size) => {
      const amounts = amountsOf(all, size);
      const sum = amounts.reduce((a, b) => a + b, 0);
      const total = all.reduce((a, b) => a + b, 0);
      expect(sum).toBe(Math.min(size, total));
      for (const [i, amount] of amounts.entries()) {
        expect(amount).toBeGreaterThan(0);
        expect(amount).toBeLessThanOrEqual(all[i] as number);
      }
    }),
  );
});

test('a batch is sorted by sequence number, in any order of arrival', () => {
  const order = fc.uniqueArray(fc.nat(15), { minLength: 1 });
  const lengths = fc.infiniteStream(fc.integer({ min: 1, max: 300 }));
  fc.assert(
    fc.property(order, lengths, (numbers, length) => {
      const items = numbers.map((number) => item(length.next().value, number));
      const plan = new BatchPlan().divide({ items, size: 512 });
      expect(plan.map((each) => each.item.evaluationPriority)).toEqual(numbers.toSorted((a, b) => a - b));
      expect(new Set(plan.map((each) => each.item))).toEqual(new Set(items));
    }),
  );
});

test('each division counts as a batch', () => {
  const plan = new BatchPlan();
  plan.divide({ items: waiting([1, 1]), size: 512 });
  plan.divide({ items: waiting([1]), size: 512 });
  expect(plan.batches).toBe(2);
});
