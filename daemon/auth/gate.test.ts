import { describe, expect, it } from 'vitest';
import { TIERS } from '../contract/auth.ts';
import type { ClassRule } from '../contract/routes.ts';
import { decide, effectiveClass, type GateState } from './gate.ts';

const RULES: ClassRule[] = ['open', 'bootstrap', 'client', 'admin', 'memory'];
const base: GateState = {
  enforced: true,
  hasAdminKey: true,
  unusableAdminKey: false,
  memoryClass: 'admin',
  guarded: true,
  remote: true,
};

/**
 * Returns one line per state and one letter per tier (anon, client, admin): p passes, r = auth.required, f =
 * auth.forbidden.
 */
function table(state: Partial<GateState>): Record<string, string> {
  const letter = { pass: 'p', 'auth.required': 'r', 'auth.forbidden': 'f' };
  return Object.fromEntries(
    RULES.map((rule) => [
      rule,
      TIERS.map((tier) => letter[decide(rule, tier, { ...base, ...state })]).join(''),
    ]),
  );
}

const OPEN = { open: 'ppp', bootstrap: 'ppp', client: 'ppp', admin: 'ppp', memory: 'ppp' };

describe('gate', () => {
  it('C01 enforcement on', () => {
    const on = { open: 'ppp', bootstrap: 'rfp', client: 'rpp', admin: 'rfp' };
    for (const guarded of [true, false]) {
      for (const remote of [true, false]) {
        expect(table({ guarded, remote })).toEqual({ ...on, memory: 'rfp' });
        expect(table({ guarded, remote, memoryClass: 'client' })).toEqual({ ...on, memory: 'rpp' });
      }
    }
  });

  it('C28 enforcement on without an admin key fails closed, bootstrap stays open', () => {
    for (const memoryClass of ['admin', 'client'] as const) {
      expect(table({ hasAdminKey: false, memoryClass })).toEqual({
        open: 'ppp',
        bootstrap: 'ppp',
        client: 'rff',
        admin: 'rff',
        memory: 'rff',
      });
    }
  });

  it('C01 enforcement off permits every caller when no guard applies', () => {
    for (const memoryClass of ['admin', 'client'] as const) {
      for (const hasAdminKey of [true, false]) {
        expect(table({ enforced: false, hasAdminKey, memoryClass, guarded: false })).toEqual(OPEN);
        expect(table({ enforced: false, hasAdminKey, memoryClass, remote: false })).toEqual(OPEN);
      }
      expect(table({ enforced: false, hasAdminKey: false, memoryClass })).toEqual(OPEN);
    }
  });

  it('the remote-admin guard covers admin routes, bootstrap once it counts as admin, and memory while it is admin', () => {
    const guarded = { open: 'ppp', bootstrap: 'rfp', client: 'ppp', admin: 'rfp' };
    expect(table({ enforced: false })).toEqual({ ...guarded, memory: 'rfp' });
    expect(table({ enforced: false, memoryClass: 'client' })).toEqual({ ...guarded, memory: 'ppp' });
  });

  it('an unusable key opens nothing: guard and bootstrap apply, and enforcement refuses all', () => {
    const unusable = { hasAdminKey: false, unusableAdminKey: true };
    const guarded = { open: 'ppp', bootstrap: 'rfp', client: 'ppp', admin: 'rfp', memory: 'rfp' };
    expect(table({ ...unusable, enforced: false })).toEqual(guarded);
    expect(table({ ...unusable, enforced: false, remote: false })).toEqual(OPEN);
    const closed = { open: 'ppp', bootstrap: 'rff', client: 'rff', admin: 'rff', memory: 'rff' };
    expect(table(unusable)).toEqual(closed);
  });

  it('never permits a lower tier more than a higher one, nor more with enforcement than without', () => {
    const flags = [true, false];
    for (const rule of RULES)
      for (const enforced of flags)
        for (const hasAdminKey of flags)
          for (const guarded of flags)
            for (const remote of flags) {
              const state = { ...base, enforced, hasAdminKey, guarded, remote };
              const passes = TIERS.map((tier) => decide(rule, tier, state) === 'pass');
              expect(passes).toEqual([...passes].sort());
              for (const tier of TIERS) {
                if (decide(rule, tier, { ...state, enforced: true }) !== 'pass' || enforced) continue;
                expect(decide(rule, tier, state)).toBe('pass');
              }
            }
  });

  it('names the current class of a rule', () => {
    expect(
      effectiveClass('bootstrap', { hasAdminKey: false, unusableAdminKey: false, memoryClass: 'admin' }),
    ).toBe('open');
    expect(
      effectiveClass('bootstrap', { hasAdminKey: true, unusableAdminKey: false, memoryClass: 'admin' }),
    ).toBe('admin');
    expect(
      effectiveClass('memory', { hasAdminKey: true, unusableAdminKey: false, memoryClass: 'client' }),
    ).toBe('client');
    expect(
      effectiveClass('client', { hasAdminKey: true, unusableAdminKey: false, memoryClass: 'admin' }),
    ).toBe('client');
  });
});
