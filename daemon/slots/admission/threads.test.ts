import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { threadBudget, threadShare } from './threads.ts';

describe('thread budget', () => {
  it.each([
    [0, 8, 7],
    [0, 2, 1],
    [0, 1, 1],
    [3, 8, 3],
  ])('setting %i on %i cores gives %i', (setting, cores, budget) => {
    expect(threadBudget(setting, cores)).toBe(budget);
  });

  it.each([
    [{ budget: 7, taken: [], tiny: false }, 7],
    [{ budget: 7, taken: [], tiny: true }, 1],
    [{ budget: 7, taken: [1], tiny: false }, 4],
    [{ budget: 7, taken: [5], tiny: false }, 2],
    [{ budget: 7, taken: [7], tiny: false }, 1],
    [{ budget: 12, taken: [3, 3], tiny: false }, 4],
  ])('%o', (picture, share) => expect(threadShare(picture)).toBe(share));

  it('property: at least one, and the sum stays within the budget while one each is left', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.array(fc.integer({ min: 1, max: 16 })),
        (budget, taken) => {
          const share = threadShare({ budget, taken, tiny: false });
          const used = taken.reduce((sum, threads) => sum + threads, 0);
          expect(share).toBeGreaterThanOrEqual(1);
          if (used < budget) expect(used + share).toBeLessThanOrEqual(budget);
          else expect(share).toBe(1);
        },
      ),
    );
  });
});
