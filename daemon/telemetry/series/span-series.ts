import type { MetricFactory } from './metric-factory.ts';

/** Spans since the start, by what became of them. */
export interface SpanCounts {
  readonly sent: number;
  /** Given up: the queue was full, or the gateway stopped before the collector came back. */
  readonly dropped: number;
  /** The collector did not take them. */
  readonly refused: number;
}

/** The counts of the exporter, read at each scrape. */
export function spanSeries(make: MetricFactory, counts: () => SpanCounts): void {
  const help = 'Spans of traces, by what became of them.';
  make.readCounter('svc_trace_spans_total', help, 'outcome', () => Object.entries(counts()));
}
