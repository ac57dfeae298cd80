import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SwapRemoveSet } from './swap-remove-set.ts';

test('contains what a Set would contain, for any additions and removals', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(9))), (steps) => {
      const items = Array.from({ length: 10 }, (_, name) => ({ name, index: 0 }));
      const bag = new SwapRemoveSet<(typeof items)[number]>();
      const reference = new Set<(typeof items)[number]>();
      for (const [add, index] of steps) {
        const item = items[index] as (typeof items)[number];
        if (!add) {
          bag.remove(item);
          reference.delete(item);
        } else if (!reference.has(item)) {
          bag.add(item);
          reference.add(item);
        }
        expect(bag.size).toBe(reference.size);
      }
      expect(new Set(bag.all())).toEqual(reference);
    }),
  );
});
