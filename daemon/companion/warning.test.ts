import { expect, it } from 'vitest';
import { companionWarning } from './warning.ts';

const FINE = { isLoopback: true, signIn: true, trustsHeader: false };

it.each([
  ['a safe configuration', {}, true, true, null],
  ['keys are not required', {}, false, false, null],
  ['no client key', {}, true, false, /svcctl auth rotate client, then restart svc-companion/],
  ['no sign-in, on this machine', { signIn: false }, false, true, null],
  [
    'no sign-in, on the network',
    { signIn: false, isLoopback: false },
    false,
    true,
    /read stored conversations/,
  ],
  ['a header, behind a proxy here', { trustsHeader: true }, true, true, null],
  ['a header, on the network', { trustsHeader: true, isLoopback: false }, true, true, /sign in as anyone/],
  [
    'a header, on the network, and no key: the more severe warning comes first',
    { trustsHeader: true, isLoopback: false },
    true,
    false,
    /anyone/,
  ],
  ['a header without sign-in', { trustsHeader: true, signIn: false }, true, true, /sign-in is off/],
] as const)('%s', (_name, plan, enforced, hasClientKey, expected) => {
  const warning = companionWarning({ plan: { ...FINE, ...plan }, enforced, hasClientKey });
  if (expected === null) expect(warning).toBeNull();
  else expect(warning).toMatch(expected);
});
