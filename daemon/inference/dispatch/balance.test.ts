import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UpstreamState } from '../../upstreams/port.ts';
import { upstreamConfigOf } from '../testing/builders.ts';
import { balance } from './balance.ts';

type More = Partial<Omit<UpstreamState, 'models'>> & { loaded?: boolean; othersActive?: number };
function upstream(name: string, { loaded, othersActive, ...more }: More = {}): UpstreamState {
  const base = upstreamConfigOf({ name, isSpendGuarded: false, ...more });
  const model = { id: 'm', type: null, context: null, created: null };
  const load = {
    ...(loaded === undefined ? {} : { loaded }),
    ...(othersActive === undefined ? {} : { othersActive }),
  };
  return { ...base, models: [{ ...model, ...load }] };
}
const chosen = (upstreams: UpstreamState[], owner: string | null = null, maxExtra = 2) => {
  const found = balance(upstreams, 'm', { owner: () => owner, maxExtra });
  return found === null ? null : [found.upstream.name, found.rule];
};

describe('balance', () => {
  it.each<[string, UpstreamState[], [string, string | null]]>([
    ['one alone', [upstream('a')], ['a', null]],
    [
      'a free one first',
      [upstream('a', { isBusy: true }), upstream('b', { active: 9, priority: 7 })],
      ['b', null],
    ],
    [
      'a busy one before an unhealthy one',
      [upstream('a', { isHealthy: false }), upstream('b', { isBusy: true })],
      ['b', null],
    ],
    ['health first', [upstream('a', { isHealthy: false }), upstream('b', { active: 9 })], ['b', null]],
    [
      'a failing model is no health',
      [upstream('a', { failingModels: new Set(['m']) }), upstream('b', { active: 9 })],
      ['b', null],
    ],
    [
      'the own network before a provider',
      [upstream('a', { isSpendGuarded: true }), upstream('b', { priority: 9, active: 9 })],
      ['b', null],
    ],
    ['then priority', [upstream('a', { priority: 1 }), upstream('b', { active: 9 })], ['b', null]],
    [
      'then a loaded model',
      [upstream('a', { loaded: false }), upstream('b', { active: 9 })],
      ['b', 'loaded'],
    ],
    [
      'no loaded model at all',
      [upstream('a', { loaded: false, active: 1 }), upstream('b', { loaded: false })],
      ['b', 'active'],
    ],
    [
      'an old list says nothing about loaded models',
      [upstream('a', { loaded: false, isListRecent: false }), upstream('b', { loaded: true, active: 1 })],
      ['a', 'active'],
    ],
    [
      'then fewest active requests',
      [upstream('a', { active: 2 }), upstream('b', { active: 1 })],
      ['b', 'active'],
    ],
    [
      'divided by weight',
      [upstream('a', { active: 4, weight: 4 }), upstream('b', { active: 2, weight: 1 })],
      ['a', 'active'],
    ],
    [
      'those of other callers included',
      [upstream('a', { othersActive: 3 }), upstream('b', { active: 2 })],
      ['b', 'active'],
    ],
    ['then turns', [upstream('a', { turn: 2 }), upstream('b', { turn: 1 })], ['b', 'turn']],
    ['then the name', [upstream('b'), upstream('a')], ['a', 'turn']],
  ])('%s', (_, upstreams, expected) => expect(chosen(upstreams)).toEqual(expected));

  it('returns null without candidates', () => expect(chosen([])).toBeNull());

  it('returns a conversation unless its upstream has more extra requests than permitted', () => {
    const both = (active: number) => [upstream('a'), upstream('b', { active })];
    expect(chosen(both(2), 'b')).toEqual(['b', 'prefix']);
    expect(chosen(both(3), 'b')).toEqual(['a', 'active']);
    expect(chosen(both(1), 'b', 0)).toEqual(['a', 'active']);
    expect(chosen(both(0), 'gone')).toEqual(['a', 'turn']);
    expect(chosen([upstream('a'), upstream('b', { loaded: false })], 'b')).toEqual(['a', 'loaded']);
    expect(chosen([upstream('a'), upstream('b', { priority: 1 })], 'b')).toEqual(['a', null]);
  });

  it('does not look for the beginning of a conversation without a choice', () => {
    const owner = () => {
      throw new Error('not needed');
    };
    expect(
      balance([upstream('a'), upstream('b', { priority: 1 })], 'm', { owner, maxExtra: 2 })?.rule,
    ).toBeNull();
  });

  /** Returns how many of 1,000 calls each of two upstreams gets, with `running` calls at a time. */
  function shares(weights: readonly [number, number], running: number, endsNext: (calls: number) => number) {
    const states = weights.map((weight, at) => ({ name: `${at}`, weight, active: 0, turn: 0, calls: 0 }));
    const queue: (typeof states)[number][] = [];
    let turn = 0;
    for (let call = 0; call < 1_000; call++) {
      const found = balance(
        states.map(({ calls: _, ...state }) => upstream(state.name, state)),
        'm',
      );
      const target = states[Number(found?.upstream.name)] as (typeof states)[number];
      target.active++;
      target.calls++;
      turn = Math.max(target.turn, turn);
      target.turn = turn + 1 / target.weight;
      queue.push(target);
      if (queue.length < running) continue;
      const [ended] = queue.splice(endsNext(queue.length), 1);
      if (ended) ended.active--;
    }
    return states.map(({ calls }) => calls);
  }

  it('shares 1,000 calls between two equal upstreams within 10 %, for any number of calls at a time', () => {
    const random = fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true }));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 32 }), random, (running, order) => {
        for (const endsNext of [() => 0, (calls: number) => Math.floor(Number(order.next().value) * calls)])
          expect(Math.max(...shares([1, 1], running, endsNext))).toBeLessThanOrEqual(550);
      }),
      { numRuns: 30, verbose: 0 },
    );
  });

  it.each([
    [1, 3, 1],
    [1, 3, 8],
    [2, 1, 6],
  ])('shares calls in proportion to the weights %d and %d, %d at a time', (first, second, running) => {
    const [calls = 0] = shares([first, second], running, () => 0);
    expect(Math.abs(calls / 1_000 - first / (first + second))).toBeLessThan(0.1);
  });
});
