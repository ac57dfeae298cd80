import { expect, it } from 'vitest';
import { nextHops } from './hops.ts';

const OWN = '0123456789abcdef';

it.each([
  [undefined, OWN],
  ['', OWN],
  ['aa', `aa,${OWN}`],
  ['aa, bb ,cc', `aa,bb,cc,${OWN}`],
  ['a\u00e9\r\nx: y', `a,${OWN}`],
  ['zz', `0,${OWN}`],
])('%j is forwarded as %s', (header, expected) => expect(nextHops(header, OWN)).toBe(expected));

it.each([OWN, `aa,${OWN}`, `${OWN},bb`, 'a,b,c,d', `${'a,'.repeat(2000)}`])('%j is refused', (header) =>
  expect(nextHops(header, OWN)).toBeNull(),
);
