import { expect, it } from 'vitest';
import { MAX_T, tValues, welch } from '../test/harness/timing-comparison.ts';
import { createKeys, generateKey } from './keys.ts';

const ADMIN = generateKey();
const CLIENT = generateKey();
const keys = createKeys({ admin: () => ADMIN, client: () => CLIENT });
/** A separate string: a slice of another one is read at another speed. */
const flat = (text: string): string => Buffer.from(text).toString();
const withChangeAt = (text: string, at: number): string =>
  flat(`${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`);

/** Pairs that an attacker could distinguish by time if the comparison leaked it. */
const PAIRS: Record<string, readonly [string, string]> = {
  'a wrong first character and a wrong last one': [
    withChangeAt(ADMIN, 0),
    withChangeAt(ADMIN, ADMIN.length - 1),
  ],
  'a near match of the admin key and one of the client key': [
    withChangeAt(ADMIN, 42),
    withChangeAt(CLIENT, 42),
  ],
  'no matching character and nearly all matching': [flat('~'.repeat(ADMIN.length)), withChangeAt(ADMIN, 42)],
  'a short key and one of the correct length': [flat('~'.repeat(20)), flat('~'.repeat(ADMIN.length))],
};
const SAMPLES = 100_000;
const CALLS_PER_SAMPLE = 4;
const WARM_CALLS = 20_000;
function duration(text: string): number {
  const startedAt = process.hrtime.bigint();
  for (let n = 0; n < CALLS_PER_SAMPLE; n++) keys.tierOf(text);
  return Number(process.hrtime.bigint() - startedAt);
}

it.each(Object.entries(PAIRS))('T16 %s take the same time', async (_, pair) => {
  // V8 has compiled the comparison after these calls. Before that, the length of a key shows.
  for (let n = 0; n < WARM_CALLS; n++) for (const text of pair) keys.tierOf(text);
  for (const text of pair) expect(keys.tierOf(text)).toBeNull();
  const measured = await tValues('keys-timing', SAMPLES, (which) => duration(pair[which]));
  expect(measured.at(-1), `t of each try: ${measured}`).toBeLessThan(MAX_T);
});

it('T16 the measurement detects a comparison that stops at the first difference', () => {
  const leaky = (text: string) => {
    let n = 0;
    while (n < 4_000 && text[n % text.length] === ADMIN[n % ADMIN.length]) n += 1;
    return n;
  };
  const time = (text: string) => {
    const startedAt = process.hrtime.bigint();
    leaky(text);
    return Number(process.hrtime.bigint() - startedAt);
  };
  const [wrong, right] = [flat('~'.repeat(ADMIN.length)), flat(ADMIN)];
  const times = Array.from({ length: 2_000 }, () => [time(wrong), time(right)] as const);
  const early = times
    .map(([a]) => a)
    .sort((a, b) => a - b)
    .slice(0, 1_600);
  const late = times
    .map(([, b]) => b)
    .sort((a, b) => a - b)
    .slice(0, 1_600);
  expect(Math.abs(welch(early, late))).toBeGreaterThan(MAX_T);
});
