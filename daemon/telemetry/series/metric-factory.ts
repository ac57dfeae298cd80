import type { Registry } from 'prom-client';
// Not the whole package: its figures of the process read in the interface of OpenTelemetry.
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import { CounterTally, HistogramTally } from './tally.ts';

/** What is known of a metric before anything is measured. */
export interface MetricRow {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
  readonly help: string;
}

/**
 * Makes the metrics of one registry: name, help, label names. Every label is from a bounded set
 * (docs/spec/contract.md#metrics).
 */
export class MetricFactory {
  readonly #registry: Registry;
  readonly #rows: MetricRow[] = [];

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Every metric made so far, in order. */
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

  /** A counter of counts that are kept elsewhere and only grow, read anew at each scrape. */
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

  /** A gauge that is filled anew at each scrape, so that what has gone is gone. */
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
