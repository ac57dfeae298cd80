import { expect, it } from 'vitest';
import { randomFrom, scale, seed } from '../test/harness/scale.ts';
import { createKeys, generateKey } from './keys.ts';

const ADMIN = generateKey();
const CLIENT = generateKey();
const keys = createKeys({ admin: () => ADMIN, client: () => CLIENT });
/** A text of its own: a part of another one is read at another speed. */
const flat = (text: string): string => Buffer.from(text).toString();
const but = (text: string, at: number): string =>
  flat(`${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`);

/** What an attacker could tell apart by time, if the comparison gave it away. */
const PAIRS: Record<string, readonly [string, string]> = {
  'a wrong first character and a wrong last one': [but(ADMIN, 0), but(ADMIN, ADMIN.length - 1)],
  'nearly the admin key and nearly the client key': [but(ADMIN, 42), but(CLIENT, 42)],
  'nothing right and nearly all': [flat('~'.repeat(ADMIN.length)), but(ADMIN, 42)],
  'a short one and one of the right length': [flat('~'.repeat(20)), flat('~'.repeat(ADMIN.length))],
};
const SAMPLES = 100_000;
const QUESTIONS_A_SAMPLE = 4;
/** Beyond this two means differ (Welch's t, as leakage tests have it). */
const MOST_T = 4.5;
/** Slow samples are those of a machine that did something else. */
const KEPT = 0.8;
/** A difference that is there is there each time. */
const TRIES = 4;

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
const variance = (values: readonly number[], middle: number): number =>
  values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);

function welch(a: readonly number[], b: readonly number[]): number {
  const [meanA, meanB] = [mean(a), mean(b)];
  return (meanA - meanB) / Math.sqrt(variance(a, meanA) / a.length + variance(b, meanB) / b.length);
}

function duration(text: string): number {
  const begun = process.hrtime.bigint();
  for (let n = 0; n < QUESTIONS_A_SAMPLE; n++) keys.tierOf(text);
  return Number(process.hrtime.bigint() - begun);
}

/** The t of one round in which both are asked in an order that nobody foresees. */
function measured([first, second]: readonly [string, string], random: () => number): number {
  const times: { of: 0 | 1; ns: number }[] = [];
  for (let n = 0; n < 2 * scale(SAMPLES); n++) {
    const of = random() < 0.5 ? 0 : 1;
    times.push({ of, ns: duration(of === 0 ? first : second) });
  }
  const limit = times.map(({ ns }) => ns).sort((a, b) => a - b)[Math.floor(times.length * KEPT)] as number;
  const kept = (which: 0 | 1) =>
    times.filter(({ of, ns }) => of === which && ns <= limit).map(({ ns }) => ns);
  return Math.abs(welch(kept(0), kept(1)));
}

it.each(Object.entries(PAIRS))('T16 %s take the same time', (_, pair) => {
  const random = randomFrom(seed('keys-timing'));
  for (const text of pair) for (let n = 0; n < 2_000; n++) expect(keys.tierOf(text)).toBeNull();
  const seen: number[] = [];
  for (let n = 0; n < TRIES && (seen.at(-1) ?? MOST_T) >= MOST_T; n++) seen.push(measured(pair, random));
  expect(seen.at(-1), `t of each try: ${seen}`).toBeLessThan(MOST_T);
});

it('T16 the measure sees a comparison that stops at the first difference', () => {
  const leaky = (text: string) => {
    let n = 0;
    while (n < 4_000 && text[n % text.length] === ADMIN[n % ADMIN.length]) n += 1;
    return n;
  };
  const time = (text: string) => {
    const begun = process.hrtime.bigint();
    leaky(text);
    return Number(process.hrtime.bigint() - begun);
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
  expect(Math.abs(welch(early, late))).toBeGreaterThan(MOST_T);
});
