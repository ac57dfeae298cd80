/**
 * The stretch of time that a graph shows, in Unix seconds: up to the last moment that is known, and at least `span` long.
 * It is reckoned from the times themselves: a chart library that gets one sample makes a day of it.
 */
export function timeRange(times: readonly number[], span: number, now: number): [number, number] {
  const last = times.at(-1) ?? now;
  return [Math.min(times[0] ?? last, last - span), last];
}
