import { expect, it } from 'vitest';
import { isSelfAddress } from './self-address.ts';

const parts = {
  addresses: async (name: string) => {
    const known: Record<string, string[]> = { here: ['192.0.2.7'], there: ['192.0.2.8'], localhost: ['::1'] };
    const found = known[name] ?? (/^[\d.:]+$/.test(name) ? [name] : null);
    if (found === null) throw new Error('unknown');
    return found;
  },
  own: () => new Set(['127.0.0.1', '::1', '192.0.2.7']),
};

it.each([
  ['http://127.0.0.1:8080', true],
  ['http://127.9.9.9:8080', true],
  ['http://[::1]:8080', true],
  ['http://localhost:8080', true],
  ['http://here:8080', true],
  ['http://192.0.2.7:8080', true],
  ['http://here:8081', false],
  ['http://there:8080', false],
  ['http://unknown:8080', false],
])('%s on port 8080: %s', async (url, expected) => {
  expect(await isSelfAddress(new URL(url), 8080, parts)).toBe(expected);
});

it('applies the default ports of the protocols', async () => {
  expect(await isSelfAddress(new URL('https://here'), 443, parts)).toBe(true);
  expect(await isSelfAddress(new URL('http://here'), 80, parts)).toBe(true);
});

it('uses the addresses of the system by default', async () => {
  expect(await isSelfAddress(new URL('http://localhost:1234'), 1234)).toBe(true);
});
