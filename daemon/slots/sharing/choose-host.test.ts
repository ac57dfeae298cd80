import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chooseHost, type EngineStanding } from './choose-host.ts';

const STANDINGS = ['loaded', 'loading', 'waiting', 'leaving', 'failed', 'none'] as const;
const OWN = -1;

it.each<[string, EngineStanding, EngineStanding[], number]>([
  ['no other slot', 'none', [], OWN],
  ['nothing runs anywhere', 'none', ['none', 'none'], OWN],
  ['another one is loaded', 'none', ['none', 'loaded'], 1],
  ['a loaded one before one that loads', 'none', ['loading', 'loaded'], 1],
  ['one that loads before one that waits', 'none', ['waiting', 'loading'], 1],
  ['one that waits before one that ends', 'none', ['leaving', 'waiting'], 1],
  ['one that ends and loads again', 'none', ['leaving'], 0],
  ['its own load that waits before another one', 'waiting', ['waiting'], OWN],
  ['another failure is shared', 'none', ['failed'], 0],
  ['its own failure', 'failed', ['failed', 'none'], OWN],
  ['a failed slot whose twin is loaded', 'failed', ['loaded'], 0],
  ['a slot that drains for good', 'leaving', ['loaded'], 0],
])('%s', (_, own, others, expected) => {
  expect(chooseHost(own, others)).toBe(expected);
});

it('leaves an engine that runs for none, and never takes a worse one than its own', () => {
  const standing = fc.constantFrom<EngineStanding>(...STANDINGS);
  fc.assert(
    fc.property(standing, fc.array(standing, { maxLength: 5 }), (own, others) => {
      const at = chooseHost(own, others);
      if (own === 'loaded' || own === 'loading') expect(at).toBe(OWN);
      if (at === OWN) return;
      const rank = (each: EngineStanding) => STANDINGS.indexOf(each);
      expect(rank(others[at] as EngineStanding)).toBeLessThan(rank(own));
      expect(rank(others[at] as EngineStanding)).toBe(Math.min(...others.map(rank)));
    }),
    { numRuns: 500 },
  );
});
