import type { Registry } from 'prom-client';
// Not the whole package: its figures of the process read in the interface of OpenTelemetry.
import Counter from 'prom-client/lib/counter.js';
import Gauge from 'prom-client/lib/gauge.js';
import { CounterTally, HistogramTally } from './tally.ts';

/**
 * Makes the metrics of one registry: name, help, label names. Every label is from a bounded set
 * (docs/spec/contract.md#metrics).
 */
export class Make {
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  counter<L extends string>(name: string, help: string, ...labelNames: L[]): CounterTally<L> {
    return new CounterTally(this.#registry, { name, help, labelNames });
  }

  histogram<L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) {
    return new HistogramTally<L>(this.#registry, { name, help, labelNames, buckets });
  }

  /** A counter of counts that are kept elsewhere and only grow, read anew at each scrape. */
  readCounter<L extends string>(
    name: string,
    help: string,
    label: L,
    read: () => readonly (readonly [value: string, count: number])[],
  ): Counter<L> {
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
