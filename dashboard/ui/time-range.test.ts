import { expect, test } from 'vitest';
import { timeRange } from './time-range.ts';

test.each([
  ['nothing known', [], [700, 1000]],
  ['one sample', [500], [200, 500]],
  ['less than the span', [900, 950], [650, 950]],
  ['more than the span', [100, 500, 900], [100, 900]],
])('%s', (_what, times, range) => expect(timeRange(times, 300, 1000)).toEqual(range));
