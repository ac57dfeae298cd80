import type { Registry } from 'prom-client';
// Imports single modules: the whole package loads process metrics that pull in OpenTelemetry.
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import { CounterTally, HistogramTally } from './tally.ts';

/** The static description of a metric. */
export interface MetricRow {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/**
 * Creates the metrics of one registry with name, help and label names. Every label value is from a bounded
 * set (docs/spec/contract.md#metrics).
 */
export class MetricFactory {
  readonly #registry: Registry;
  readonly #rows: MetricRow[] = [];

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Every metric created so far, in order. */
  get rows(): readonly MetricRow[] {
    return this.#rows;
  }

  counter<L extends string>(name: string, help: string, ...labelNames: L[]): CounterTally<L> {
    this.#rows.push({ name, kind: 'counter', labels: labelNames, help });
    return new CounterTally(this.#registry, { name, help, labelNames });
  }

  histogram<L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) {
    this.#rows.push({ name, kind: 'histogram', labels: labelNames, help });
    return new HistogramTally<L>(this.#registry, { name, help, labelNames, buckets });
  }

  /** Creates a counter whose values are counted elsewhere and read at each scrape. */
  readCounter<L extends string>(
    name: string,
    help: string,
    label: L,
    read: () => readonly (readonly [value: string, count: number])[],
  ): Counter<L> {
    this.#rows.push({ name, kind: 'counter', labels: [label], help });
    return new Counter<L>({
      name,
      help,
      labelNames: [label],
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const [value, count] of read()) this.inc({ [label]: value } as Record<L, string>, count);
      },
    });
  }

  /** Creates a gauge that is reset and filled at each scrape, so that removed targets disappear. */
  gauge<L extends string>(name: string, help: string, labelNames: L[], fill: (gauge: Gauge<L>) => void) {
    this.#rows.push({ name, kind: 'gauge', labels: labelNames, help });
    return new Gauge<L>({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        fill(this);
      },
    });
  }
}
