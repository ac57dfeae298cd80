import { expect, it } from 'vitest';
import { openingSentence } from './consequence.ts';

const facts = (loopback: boolean, guard_remote_admin: boolean) => ({
  listener: { bind_host: loopback ? '127.0.0.1' : '0.0.0.0', port: 8080, loopback },
  has_admin_key: true,
  guard_remote_admin,
});

it('names who can change settings without enforcement', () => {
  expect(openingSentence(facts(true, true))).toContain('every program on this machine');
  expect(openingSentence(facts(false, true))).toContain('still need the admin key');
  const unguarded = openingSentence(facts(false, false));
  expect(unguarded).toContain(
    'change everything without a key, because [security].guard_remote_admin is off',
  );
  expect(unguarded).not.toContain('still need the admin key');
});
