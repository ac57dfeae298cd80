import { expect, it } from 'vitest';
import type { RequestRecord } from '../../../daemon/contract/system.ts';
import { callerWords, isAccessRefusal, withRefused } from './caller-words.ts';

it.each([
  [null, 'curl/8', 'loopback', 'curl'],
  ['Kitchen', 'curl/8', 'private', 'Kitchen from your network'],
  [null, null, 'public', 'from the internet'],
  [null, null, 'loopback', null],
  [null, null, null, null],
] as const)('names the caller: %j, %j, %j', (app, agent, address, words) => {
  expect(callerWords({ app, user_agent: agent, address })).toBe(words);
});

const row = (id: string, minute: number) => ({ id, at: `2026-01-01T00:0${minute}:00Z` }) as RequestRecord;
const ids = (rows: readonly RequestRecord[]) => rows.map(({ id }) => id).join('');

it('merges refused requests by their start', () => {
  expect(ids(withRefused([row('d', 5), row('b', 2)], [row('e', 6), row('c', 3), row('a', 1)]))).toBe('edcba');
  expect(ids(withRefused([], [row('b', 2), row('a', 1)]))).toBe('ba');
  expect(ids(withRefused([row('b', 2)], []))).toBe('b');
  expect(ids(withRefused([row('b', 2), row('a', 1)], [row('b', 2)]))).toBe('ba');
});

it('knows which requests were refused before routing', () => {
  expect(isAccessRefusal({ error: 'auth.required', step: null })).toBe(true);
  expect(isAccessRefusal({ error: 'dispatch.no_route', step: null })).toBe(false);
  expect(isAccessRefusal({ error: null, step: null })).toBe(false);
});
