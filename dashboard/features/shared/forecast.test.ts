import { describe, expect, it } from 'vitest';
import type { LoadForecastView, MemorySumView } from '../../../daemon/contract/slots.ts';
import { forecastSentence, listed, sumLines } from './forecast.ts';

const GIB = 1024 ** 3;
const sum = (over: Partial<MemorySumView> = {}): MemorySumView => ({
  pool: 'host',
  needed: 2 * GIB,
  free: 10 * GIB,
  reserved: GIB,
  kept_free: GIB,
  limit: null,
  held: 3 * GIB,
  short: 0,
  victims: [],
  ...over,
});
const forecast = (
  outcome: LoadForecastView['outcome'],
  evicts: string[] = [],
  short = 0,
): LoadForecastView => ({ outcome, evicts, sum: sum({ short }) });

it('listed', () => {
  expect(listed([])).toBe('');
  expect(listed(['a'])).toBe('a');
  expect(listed(['a', 'b', 'c'])).toBe('a, b and c');
});

describe('forecastSentence', () => {
  it.each([
    [forecast('starts'), 'ok', /no other slot/],
    [forecast('evicts', ['red']), 'attention', /^red is idle and is unloaded first/],
    [forecast('evicts', ['red', 'blue']), 'attention', /^red and blue are idle/],
    [forecast('waits', ['red']), 'busy', /waits for red/],
    [forecast('waits'), 'busy', /being freed/],
    [forecast('refused', [], 3 * GIB), 'failed', /3\.0 GiB are missing/],
  ])('%#', (given, tone, text) => {
    const said = forecastSentence(given);
    expect(said.tone).toBe(tone);
    expect(said.text).toMatch(text);
  });
});

describe('sumLines', () => {
  const roomOf = (given: MemorySumView) => sumLines(given).find(({ sign }) => sign === '=')?.bytes;

  it('leaves what is free and not spoken for', () => {
    expect(roomOf(sum())).toBe(8 * GIB);
    expect(sumLines(sum()).map(({ name }) => name)).not.toContain('Short by');
  });

  it('a limit for slots counts when it is the tighter one', () => {
    expect(roomOf(sum({ limit: 4 * GIB }))).toBe(GIB);
    expect(roomOf(sum({ limit: 90 * GIB }))).toBe(8 * GIB);
    expect(roomOf(sum({ limit: 2 * GIB }))).toBe(0);
  });

  it('says what is missing, and leaves out what is nothing', () => {
    expect(sumLines(sum({ short: GIB })).at(-1)).toEqual({ name: 'Short by', bytes: GIB, sign: '' });
    for (const reserved of [0, 0.004 * GIB])
      expect(sumLines(sum({ reserved })).map(({ name }) => name)).not.toContain('Promised to others');
    expect(sumLines(sum({ reserved: 0.006 * GIB })).map(({ name }) => name)).toContain('Promised to others');
  });
});
