import type { MetricFactory } from './metric-factory.ts';

/** Spans since the start, by outcome. */
export interface SpanCounts {
  readonly sent: number;
  /** Dropped because the queue was full, or the gateway stopped before the collector returned. */
  readonly dropped: number;
  /** The collector rejected them. */
  readonly refused: number;
}

/** Registers the counts of the exporter, read at each scrape. */
export function spanSeries(make: MetricFactory, counts: () => SpanCounts): void {
  const help = 'Trace spans by outcome.';
  make.readCounter('svc_trace_spans_total', help, 'outcome', () => Object.entries(counts()));
}
