import { describe, expect, it } from 'vitest';
import type { HardwareView } from '../../../daemon/contract/hardware.ts';
import { GAP_MS, HardwareHistory, summaryOf } from './history.ts';

const view = (...devices: { id: string; busy_percent: number | null }[]) =>
  ({ devices }) as unknown as HardwareView;
const busy = (value: number | null) => view({ id: 'card', busy_percent: value });

describe('HardwareHistory', () => {
  it('treats a pause, a missing device and a missing value as gaps', () => {
    const history = new HardwareHistory();
    history.add(1000, busy(10));
    history.add(6000, busy(20));
    history.add(6000 + GAP_MS + 1, busy(30));
    history.add(40_000, view());
    history.add(45_000, busy(null));
    const { times, values } = history.series('card', 'load');
    expect(values).toEqual([10, 20, null, 30, null, null]);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(new Set(times).size).toBe(times.length);
  });

  it('ignores a repeated reading and drops the oldest samples', () => {
    const history = new HardwareHistory();
    for (let at = 0; at < 2000; at += 1) history.add(at * 5000, busy(at));
    history.add(1999 * 5000, busy(7));
    const { values } = history.series('card', 'load');
    expect(values).toHaveLength(720);
    expect(values.at(-1)).toBe(1999);
  });
});

describe('summaryOf', () => {
  it('reports the range, the last value and the gaps', () => {
    expect(summaryOf({ times: [1, 2, 3, 4], values: [3, null, 1, 2] })).toEqual({
      low: 1,
      high: 3,
      last: 2,
      gaps: 1,
    });
    expect(summaryOf({ times: [1, 2], values: [3, null] })).toMatchObject({ last: null, gaps: 1 });
    expect(summaryOf({ times: [1], values: [null] })).toBeNull();
  });
});
