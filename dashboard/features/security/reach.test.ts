import { describe, expect, it } from 'vitest';
import { type ReachFacts, reachOf } from './reach.ts';

const facts = (require_auth: boolean, loopback: boolean, hasAdminKey: boolean, guard = true): ReachFacts => ({
  enforcement: { require_auth, source: 'file' },
  listener: { bind_host: loopback ? '127.0.0.1' : '0.0.0.0', port: 8080, loopback },
  hasAdminKey,
  guard,
});
const all = (facts: ReachFacts): string[] =>
  (['open', 'bootstrap', 'client', 'admin'] as const).map((auth_class) => reachOf({ auth_class }, facts));

describe('access to each class without a key', () => {
  it('enforcement on: only open, and bootstrap until an admin key exists', () => {
    expect(all(facts(true, false, true))).toEqual(['everyone', 'none', 'none', 'none']);
    expect(all(facts(true, false, false))).toEqual(['everyone', 'everyone', 'none', 'none']);
  });

  it('enforcement off on the network: the guard keeps admin routes for this machine once a key exists', () => {
    expect(all(facts(false, false, true))).toEqual(['everyone', 'this machine', 'everyone', 'this machine']);
    expect(all(facts(false, false, false))).toEqual(['everyone', 'everyone', 'everyone', 'everyone']);
    expect(all(facts(false, false, true, false))).toEqual(['everyone', 'everyone', 'everyone', 'everyone']);
  });

  it('limits a loopback listener to this machine', () => {
    expect(all(facts(false, true, true))).toEqual(Array.from({ length: 4 }, () => 'this machine'));
    expect(all(facts(true, true, true))).toEqual(['this machine', 'none', 'none', 'none']);
  });
});
