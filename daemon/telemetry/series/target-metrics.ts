import type { SlotEvent } from '../../slots/lifecycle/slot-events.ts';
import type { Instruments } from './instruments.ts';
import { type FinishedRequest, type TargetLabel, TargetSeries } from './target-series.ts';

/** Label for everything beyond the maximum number of slots or upstreams; no target can have this name. */
const OTHERS = '(others)';
export const MAX_TARGETS = 128;

/** The series of all slots and upstreams, and of requests without a target. */
export class TargetMetrics {
  readonly #instruments: Instruments;
  readonly #slots = new Map<string, TargetSeries>();
  readonly #upstreams = new Map<string, TargetSeries>();
  readonly #noTarget: TargetSeries;

  constructor(on: Instruments) {
    this.#instruments = on;
    this.#noTarget = new TargetSeries(on, {});
  }

  finished(request: FinishedRequest): void {
    const { slot, upstream } = request;
    if (slot !== null) this.#slot(slot).finished(request);
    else if (upstream !== null) this.#upstream(upstream).finished(request);
    else this.#noTarget.finished(request);
  }

  onSlotEvent(work: SlotEvent): void {
    this.#slot(work.slot).onSlotEvent(work);
  }

  /** Creates the series of existing slots and drops the series of removed targets. */
  retain(slots: readonly string[], upstreams: readonly string[]): void {
    for (const name of slots) this.#slot(name);
    dropOthers(this.#slots, slots);
    dropOthers(this.#upstreams, upstreams);
  }

  #slot(name: string): TargetSeries {
    return this.#slots.get(name) ?? this.#open(this.#slots, name, (slot) => ({ slot }));
  }

  #upstream(name: string): TargetSeries {
    return this.#upstreams.get(name) ?? this.#open(this.#upstreams, name, (upstream) => ({ upstream }));
  }

  #open(
    all: Map<string, TargetSeries>,
    requested: string,
    label: (name: string) => TargetLabel,
  ): TargetSeries {
    const name = all.size < MAX_TARGETS ? requested : OTHERS;
    const series = all.get(name) ?? new TargetSeries(this.#instruments, label(name));
    all.set(name, series);
    return series;
  }
}

function dropOthers(all: Map<string, TargetSeries>, names: readonly string[]): void {
  const here = new Set([...names, OTHERS]);
  for (const [name, series] of all) {
    if (here.has(name)) continue;
    series.drop();
    all.delete(name);
  }
}
