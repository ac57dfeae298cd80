/**
 * The time range of a chart in Unix seconds: up to the last sample, and at least `span` long. Computed here, because the
 * chart library expands a single sample to a day.
 */
export function timeRange(times: readonly number[], span: number, now: number): [number, number] {
  const last = times.at(-1) ?? now;
  return [Math.min(times[0] ?? last, last - span), last];
}
