import type { SlotEvent } from '../../slots/lifecycle/slot-events.ts';
import type { Instruments } from './instruments.ts';
import { type FinishedRequest, type OwnerLabel, OwnerSeries } from './owner-series.ts';

/** Name under which is counted what comes beyond so many slots, or so many upstreams; none can be called so. */
const OTHERS = '(others)';
export const MOST_OWNERS = 128;

/** The series of all slots and upstreams, and of requests that reached neither. */
export class Owners {
  readonly #on: Instruments;
  readonly #slots = new Map<string, OwnerSeries>();
  readonly #upstreams = new Map<string, OwnerSeries>();
  readonly #nobody: OwnerSeries;

  constructor(on: Instruments) {
    this.#on = on;
    this.#nobody = new OwnerSeries(on, {});
  }

  finished(request: FinishedRequest): void {
    const { slot, upstream } = request;
    if (slot !== null) this.#slot(slot).finished(request);
    else if (upstream !== null) this.#upstream(upstream).finished(request);
    else this.#nobody.finished(request);
  }

  worked(work: SlotEvent): void {
    this.#slot(work.slot).worked(work);
  }

  /** Begins the series of those that are there, and ends those of the ones that have gone. */
  keep(slots: readonly string[], upstreams: readonly string[]): void {
    for (const name of slots) this.#slot(name);
    dropOthers(this.#slots, slots);
    dropOthers(this.#upstreams, upstreams);
  }

  #slot(name: string): OwnerSeries {
    return this.#slots.get(name) ?? this.#open(this.#slots, name, (slot) => ({ slot }));
  }

  #upstream(name: string): OwnerSeries {
    return this.#upstreams.get(name) ?? this.#open(this.#upstreams, name, (upstream) => ({ upstream }));
  }

  #open(all: Map<string, OwnerSeries>, asked: string, label: (name: string) => OwnerLabel): OwnerSeries {
    const name = all.size < MOST_OWNERS ? asked : OTHERS;
    const series = all.get(name) ?? new OwnerSeries(this.#on, label(name));
    all.set(name, series);
    return series;
  }
}

function dropOthers(all: Map<string, OwnerSeries>, names: readonly string[]): void {
  const here = new Set([...names, OTHERS]);
  for (const [name, series] of all) {
    if (here.has(name)) continue;
    series.drop();
    all.delete(name);
  }
}
