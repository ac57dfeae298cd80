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
    [forecast('starts'), 'ok', /Enough memory/],
    [forecast('evicts', ['red']), 'attention', /^red \(idle\) will be unloaded/],
    [forecast('evicts', ['red', 'blue']), 'attention', /^red and blue \(idle\)/],
    [forecast('waits', ['red']), 'busy', /Waits for red/],
    [forecast('waits'), 'busy', /being freed/],
    [forecast('refused', [], 3 * GIB), 'failed', /3\.0 GiB short/],
  ])('%#', (view, tone, text) => {
    const sentence = forecastSentence(view);
    expect(sentence.tone).toBe(tone);
    expect(sentence.text).toMatch(text);
  });
});

describe('sumLines', () => {
  const headroomOf = (view: MemorySumView) => sumLines(view).find(({ sign }) => sign === '=')?.bytes;

  it('subtracts reservations from free memory', () => {
    expect(headroomOf(sum())).toBe(8 * GIB);
    expect(sumLines(sum()).map(({ name }) => name)).not.toContain('Short by');
  });

  it('applies the memory limit when it is lower', () => {
    expect(headroomOf(sum({ limit: 4 * GIB }))).toBe(GIB);
    expect(headroomOf(sum({ limit: 90 * GIB }))).toBe(8 * GIB);
    expect(headroomOf(sum({ limit: 2 * GIB }))).toBe(0);
  });

  it('reports what is missing, and leaves out zero lines', () => {
    expect(sumLines(sum({ short: GIB })).at(-1)).toEqual({ name: 'Short by', bytes: GIB, sign: '' });
    for (const reserved of [0, 0.004 * GIB])
      expect(sumLines(sum({ reserved })).map(({ name }) => name)).not.toContain('Reserved');
    expect(sumLines(sum({ reserved: 0.006 * GIB })).map(({ name }) => name)).toContain('Reserved');
  });
});
