import { describe, expect, it } from 'vitest';
import { postureOf } from './posture.ts';

const facts = (require_auth: boolean, loopback: boolean, has_admin_key: boolean, guard = true) => ({
  enforcement: { require_auth, source: 'default' as const },
  listener: { bind_host: loopback ? '127.0.0.1' : '0.0.0.0', port: 8080, loopback },
  has_admin_key,
  guard_remote_admin: guard,
});

describe('postureOf', () => {
  it.each([
    [facts(false, true, false), 'open to this machine', 'idle'],
    [facts(false, false, true), 'open to the network', 'attention'],
    [facts(true, false, true), 'keys required', 'ok'],
    [facts(true, true, false), 'keys required', 'failed'],
  ])('%#', (input, word, tone) => expect(postureOf(input)).toMatchObject({ word, tone }));

  it('describes who can change settings on an open network', () => {
    expect(postureOf(facts(false, false, true)).sentence).toContain('still needs the admin key');
    expect(postureOf(facts(false, false, false)).sentence).toContain('no admin key is set');
    const unguarded = postureOf(facts(false, false, true, false)).sentence;
    expect(unguarded).toContain('can also change all settings, because [security].guard_remote_admin is off');
    expect(unguarded).not.toContain('still needs the admin key');
  });
});
