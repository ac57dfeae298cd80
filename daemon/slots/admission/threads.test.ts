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
    [{ budget: 7, inUse: [], isDemo: false }, 7],
    [{ budget: 7, inUse: [], isDemo: true }, 1],
    [{ budget: 7, inUse: [1], isDemo: false }, 4],
    [{ budget: 7, inUse: [5], isDemo: false }, 2],
    [{ budget: 7, inUse: [7], isDemo: false }, 1],
    [{ budget: 12, inUse: [3, 3], isDemo: false }, 4],
  ])('%o', (input, share) => expect(threadShare(input)).toBe(share));

  it('property: each engine gets at least one thread, and the sum stays within the budget if it suffices', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 64 }),
        fc.array(fc.integer({ min: 1, max: 16 })),
        (budget, inUse) => {
          const share = threadShare({ budget, inUse, isDemo: false });
          const used = inUse.reduce((sum, threads) => sum + threads, 0);
          expect(share).toBeGreaterThanOrEqual(1);
          if (used < budget) expect(used + share).toBeLessThanOrEqual(budget);
          else expect(share).toBe(1);
        },
      ),
    );
  });
});
