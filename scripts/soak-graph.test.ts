import { describe, expect, it } from 'vitest';
import type { SoakReport } from '../daemon/test/harness/soak-report.ts';
import { drift, peakGrowth } from '../daemon/test/harness/soak-report.ts';
import { roundUp, soakGraph } from './soak-graph.ts';

/** Samples of an hour, one a minute, with this memory. */
const hour = (rss: (minute: number) => number) =>
  Array.from({ length: 61 }, (_, minute) => ({
    at: minute * 60,
    rss_bytes: rss(minute) * 2 ** 20,
    fds: 40,
    sockets: 8,
  }));

const report: SoakReport = {
  made_at: '2030-01-02T03:04:05.000Z',
  node: 'v24',
  seconds: 3_600,
  callers: 8,
  requests: { whole: 10, streamed: 5 },
  churned: 3,
  lost: ['<b>'],
  restarts: 0,
  fds: { before: 40, after: 41 },
  rss_drift_percent_per_hour: 0,
  samples: hour(() => 100),
};

describe('the graph of a soak', () => {
  it('has a line for each measure, all points within the graph', () => {
    const svg = soakGraph(report);
    const lines = [...svg.matchAll(/points="([^"]+)"/g)].map(([, points = '']) => points.split(' '));
    expect(lines.map((points) => points.length)).toEqual([61, 61, 61]);
    for (const [x = 0, y = 0] of lines.flat().map((point) => point.split(',').map(Number))) {
      expect([x >= 0, x <= 900, y >= 0, y <= 740]).toEqual([true, true, true, true]);
    }
    expect(svg).toContain('15 requests in 3600 s, 1 lost');
  });

  it('can be drawn from a single sample', () => {
    expect(soakGraph({ ...report, samples: report.samples.slice(0, 1) })).not.toMatch(/NaN|Infinity/);
  });

  it.each([
    [0, 1],
    [1, 1],
    [3, 5],
    [51, 100],
    [4_001, 5_000],
  ])('an axis up to %d ends at %d', (value, end) => expect(roundUp(value)).toBe(end));
});

describe('the drift', () => {
  it('is 0 for flat memory, however it warmed up', () => {
    expect(drift(hour((minute) => (minute < 10 ? 50 + minute * 5 : 100)))).toBe(0);
  });

  it('is shown per hour', () => {
    expect(drift(hour((minute) => 100 + minute))).toBeCloseTo(49, -1);
  });

  it('is 0 where there is too little to compare', () => {
    expect(drift(hour(() => 1).slice(0, 3))).toBe(0);
  });

  it('of a saw climbs by nothing, and that of a leak above every earlier peak', () => {
    expect(peakGrowth(hour((minute) => 100 + (minute % 10) * 10))).toBe(1);
    expect(peakGrowth(hour((minute) => 100 + minute * 3))).toBeGreaterThan(1.25);
    expect(peakGrowth([])).toBe(1);
  });
});
