import { expect, it } from 'vitest';
import { type StayTerms, sharedTerms } from './shared-terms.ts';

const terms = (idleUnloadS: number, pinned = false, priority = 0): StayTerms => ({
  idleUnloadS,
  pinned,
  priority,
});

it.each<[string, [StayTerms, ...StayTerms[]], StayTerms]>([
  ['those of the only slot', [terms(60, true, 3)], terms(60, true, 3)],
  ['the longest idle time', [terms(60), terms(900), terms(5)], terms(900)],
  ['never, when one slot says so', [terms(60), terms(0)], terms(0)],
  ['pinned, when one slot is', [terms(60), terms(60, true)], terms(60, true)],
  ['the highest priority', [terms(60, false, -1), terms(60, false, 4)], terms(60, false, 4)],
])('%s', (_, all, expected) => {
  expect(sharedTerms(all)).toEqual(expected);
});
