import type { Metric, Registry } from 'prom-client';

type Labels<L extends string> = Readonly<Partial<Record<L, string>>>;
interface Value {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

export interface TallyOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
}

/**
 * A metric in the registry of prom-client whose children are plain numbers. The counting code holds the child
 * and pays for one addition; the text is rendered at a scrape. The library's own metrics look up their labels
 * at each addition.
 */
abstract class Tally<L extends string, Child extends { readonly labels: Labels<L> }> {
  readonly name: string;
  readonly help: string;
  abstract readonly type: 'counter' | 'histogram';
  readonly #labelNames: readonly L[];
  readonly #children = new Map<string, Child>();

  constructor(registry: Registry, { name, help, labelNames }: TallyOptions<L>) {
    this.name = name;
    this.help = help;
    this.#labelNames = labelNames;
    registry.registerMetric(this as unknown as Metric<string>);
  }

  /**
   * Returns the child of these labels and creates it if necessary. It is rendered from its first addition on.
   */
  labels(labels: Labels<L>): Child {
    const key = this.#key(labels);
    const child = this.#children.get(key) ?? this.make(labels);
    this.#children.set(key, child);
    return child;
  }

  remove(labels: Labels<L>): void {
    this.#children.delete(this.#key(labels));
  }

  /** Called by the registry at a scrape. */
  async get() {
    const values = [...this.#children.values()].flatMap((child) => this.show(child));
    return { name: this.name, help: this.help, type: this.type, values };
  }

  protected abstract make(labels: Labels<L>): Child;
  protected abstract show(child: Child): Value[];

  #key(labels: Labels<L>): string {
    return this.#labelNames.map((name) => labels[name] ?? '').join('\0');
  }
}

export class CounterChild<L extends string> {
  readonly labels: Labels<L>;
  /** Null before the first addition, which may be of 0. */
  value: number | null = null;

  constructor(labels: Labels<L>) {
    this.labels = labels;
  }

  inc(by = 1): void {
    this.value = (this.value ?? 0) + by;
  }
}

export class CounterTally<L extends string> extends Tally<L, CounterChild<L>> {
  readonly type = 'counter';

  protected make(labels: Labels<L>): CounterChild<L> {
    return new CounterChild(labels);
  }

  protected show({ labels, value }: CounterChild<L>): Value[] {
    return value === null ? [] : [{ labels: labels as Record<string, string>, value }];
  }
}

export class HistogramChild<L extends string> {
  readonly labels: Labels<L>;
  readonly #bounds: readonly number[];
  /** Observations by bucket, each counted in the lowest bucket that fits; the last one has no bound. */
  readonly counts: number[];
  sum = 0;

  constructor(labels: Labels<L>, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += value;
  }
}

export class HistogramTally<L extends string> extends Tally<L, HistogramChild<L>> {
  readonly type = 'histogram';
  readonly #bounds: readonly number[];

  constructor(registry: Registry, options: TallyOptions<L> & { readonly buckets: readonly number[] }) {
    super(registry, options);
    this.#bounds = options.buckets;
  }

  protected make(labels: Labels<L>): HistogramChild<L> {
    return new HistogramChild(labels, this.#bounds);
  }

  protected show({ labels: own, counts, sum }: HistogramChild<L>): Value[] {
    const labels = own as Record<string, string>;
    let total = 0;
    const buckets = counts.map((count, i) => {
      total += count;
      const le = this.#bounds[i] ?? '+Inf';
      return { metricName: `${this.name}_bucket`, labels: { ...labels, le }, value: total };
    });
    if (total === 0) return [];
    return [
      ...buckets,
      { metricName: `${this.name}_sum`, labels, value: sum },
      { metricName: `${this.name}_count`, labels, value: total },
    ];
  }
}
