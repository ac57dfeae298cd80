import type { LoadForecastView } from '../../contract/slots.ts';
import type { ProcessMemory } from '../../lib/process/process-identity.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { SlotModel } from '../engines/engine.ts';
import { canChooseCard } from '../engines/visible-devices.ts';
import type { Clock } from '../lifecycle/clock.ts';
import type { AdmissionOutcome, EngineRun } from '../lifecycle/controller-deps.ts';
import { noMemoryError } from '../refusals.ts';
import { chooseDevice } from './choose-device.ts';
import { decideLoad, type LoadDecision, type MemorySnapshot } from './eviction.ts';
import {
  type LaunchPlan,
  type LaunchPlanInput,
  type MemoryHeadroom,
  type PlannedReservations,
  planLoad,
} from './launch-plan.ts';
import type { Measurements } from './measured-memory.ts';
import { estimateOf } from './memory-estimate.ts';
import { Footprints } from './memory-measurement.ts';
import {
  HOST_POOL,
  type MemoryUse,
  onCpu,
  poolOf,
  reservedBytes,
  toHolder,
  unreportedBytes,
} from './memory-use.ts';
import { AdmissionQueue, type LoadRequest, type QueuedAhead } from './queue.ts';
import { RecentlyFreed } from './recently-freed.ts';

export interface AdmissionDeps {
  readonly clock: Clock;
  readonly measurements: Measurements;
  readonly cores: number;
  cpuThreads(): number;
  queueMax(): number;
  /** Setting `memoryLimit` in bytes; 0 = none. */
  memoryLimit(): number;
  headroom(device: string, needed: number, planned?: PlannedReservations): MemoryHeadroom;
  model(config: SlotConfig): SlotModel | null;
  /** What every slot that has an engine holds, those that are about to be removed included. */
  memoryUses(): readonly MemoryUse[];
  /** The engine of this slot runs already and is only taken up: it has its memory, and there is nothing to decide. */
  isAlreadyRunning(slot: string): boolean;
  /** Memory of one process, and of it with all that it started. */
  memoryOf(pid: number): ProcessMemory | null;
  familyMemoryOf(pid: number): ProcessMemory | null;
  /** What such a family holds of a card's own memory; null where the machine does not tell. Never rejects. */
  cardMemoryOf(pid: number, card: string): Promise<number | null>;
  evict(slot: string): void;
  retry(slot: string): void;
}

/** A load as it would be decided now. */
export interface Forecast {
  readonly plan: LaunchPlan;
  readonly view: LoadForecastView;
}

/** What one load is planned by, beside the slots that hold memory. */
interface LoadTerms {
  /** False: nobody waits for it. Default true. */
  readonly isRequested?: boolean;
  /** What the slot itself holds now and would give back. */
  readonly released?: { readonly pool: string; readonly bytes: number } | null;
  readonly planned?: PlannedReservations | undefined;
  /** The pool that is chosen already. */
  readonly pool?: string;
}

/** All loads of this gateway: what each needs, what is there, who leaves for whom. */
export class AdmissionController {
  readonly #deps: AdmissionDeps;
  readonly #queue: AdmissionQueue;
  readonly #recentlyFreed: RecentlyFreed;
  readonly #footprints: Footprints;

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
    this.#recentlyFreed = new RecentlyFreed(deps.clock);
    this.#footprints = new Footprints(deps.clock, deps.measurements, deps);
    this.#queue = new AdmissionQueue({
      clock: deps.clock,
      decide: (...load) => decideLoad(this.#snapshot(deps.memoryUses(), ...load)),
      evict: (slot) => deps.evict(slot),
      retry: (slot) => deps.retry(slot),
    });
  }

  /** Slots whose loads wait for memory, first one first. */
  get waiting(): readonly string[] {
    return this.#queue.waiting;
  }

  /** Decides on one load; throws 507 `slot.no_memory` with the sum, or `slot.failed` without a fitting model. */
  admit(config: SlotConfig, isRequested: boolean): AdmissionOutcome {
    const plan = this.#plan(config, this.#deps.model(config), this.#deps.memoryUses(), { isRequested });
    const load = loadRequest(config, plan.headroom, plan.need.total, isRequested);
    if (plan.headroom.refreshing) return { ...this.#queue.defer(load), undecided: true };
    if (this.#deps.isAlreadyRunning(config.name)) this.#queue.withdraw(config.name);
    else {
      const admission = this.#queue.admit(load);
      if (admission.kind === 'refuse') throw noMemoryError(config.name, admission.sum);
      if (admission.kind === 'wait') return admission;
    }
    const { launch, need, headroom, weightBytes } = plan;
    const admitted = {
      launch,
      pool: headroom.pool,
      neededBytes: need.total,
      needSource: need.source,
      estimatedBytes: estimateOf(need),
      weightBytes,
    };
    return { kind: 'start', admitted };
  }

  /**
   * What a load of this model would be and would do, as if the slot, which holds `own` now, held nothing, and as if what is
   * planned `beside` it were taken. Throws as `admit`. Pure.
   */
  forecast(
    config: SlotConfig,
    model: SlotModel | null,
    own: MemoryUse | null,
    planned?: PlannedReservations,
  ): Forecast {
    const others = this.#deps.memoryUses().filter(({ current }) => current !== own?.current);
    const released = own === null ? null : { pool: poolOf(own.current), bytes: this.#holder(own).freedBytes };
    const first = this.#plan(config, model, others, { released, planned });
    const { headroom, need } = first;
    const decision = this.#decide(loadRequest(config, headroom, need.total, true), others, planned);
    const leaving = decision.kind === 'wait' ? decision.for : [];
    const rest = others.filter(({ name }) => !leaving.includes(name));
    const { pool } = headroom;
    return {
      plan: this.#plan(config, model, rest, { released, planned, pool }),
      view: forecastView(decision),
    };
  }

  /** The load of a slot is not wanted any more. */
  withdraw(slot: string): void {
    this.#queue.withdraw(slot);
  }

  /** A slot has changed in some way. */
  changed(): void {
    this.#queue.changed();
  }

  ready(current: Readonly<EngineRun>): void {
    this.#footprints.ready(current);
  }

  served(current: Readonly<EngineRun>): void {
    this.#footprints.served(current);
  }

  ended(current: Readonly<EngineRun>): void {
    if (!onCpu(current)) this.#recentlyFreed.add(poolOf(current), current.neededBytes);
  }

  #decide(load: LoadRequest, others: readonly MemoryUse[], planned?: PlannedReservations): LoadDecision {
    const since = this.#queue.since(load.slot) ?? this.#deps.clock.now();
    const snapshot = this.#snapshot(others, load, this.#queue.queuedAhead(load.slot, load.pool), since);
    const plannedBytes = planned?.get(load.pool) ?? 0;
    return decideLoad({ ...snapshot, limit: snapshot.limit === null ? null : snapshot.limit - plannedBytes });
  }

  #plan(
    config: SlotConfig,
    model: SlotModel | null,
    others: readonly MemoryUse[],
    terms: LoadTerms,
  ): LaunchPlan {
    const deps = this.#deps;
    const input: LaunchPlanInput = {
      model,
      others: others.map(({ current }) => current),
      cpuThreads: deps.cpuThreads(),
      cores: deps.cores,
      queueMax: deps.queueMax(),
      headroom: (device, needed) => this.#headroom(config, [device, needed], others, terms),
      measured: (launch, pool, size) => deps.measurements.bytes(launch, pool, size),
    };
    return planLoad(config, input);
  }

  /** The memory that a load draws from: of several cards the one that it is chosen for, or that it does best on. */
  #headroom(
    config: SlotConfig,
    [device, needed]: readonly [string, number],
    others: readonly MemoryUse[],
    { isRequested = true, released, planned, pool }: LoadTerms,
  ): MemoryHeadroom {
    const { alternatives = [], ...first } = this.#deps.headroom(device, needed, planned);
    const withReleased = (headroom: MemoryHeadroom): MemoryHeadroom =>
      headroom.unknown || headroom.pool !== released?.pool
        ? headroom
        : { ...headroom, free: headroom.free + released.bytes };
    const candidates = [withReleased(first), ...alternatives.map(withReleased)] as const;
    if (alternatives.length === 0 || !canChooseCard(config)) return candidates[0];
    const chosen = candidates.find((headroom) => headroom.pool === pool);
    const decide = (headroom: MemoryHeadroom) =>
      this.#decide(loadRequest(config, headroom, needed, isRequested), others, planned);
    return chosen ?? chooseDevice([...candidates], decide, this.#queue.poolOf(config.name));
  }

  #snapshot(
    others: readonly MemoryUse[],
    load: LoadRequest,
    ahead: QueuedAhead,
    waitingSince: number,
  ): MemorySnapshot {
    const { clock, memoryLimit } = this.#deps;
    const now = clock.now();
    const inPool = others.filter(({ current }) => poolOf(current) === load.pool);
    const sum = (bytes: (current: Readonly<EngineRun>) => number) =>
      inPool.reduce((all, { current }) => all + bytes(current), 0);
    const reservedOnly = { reserved: sum(({ neededBytes }) => neededBytes), unreported: 0 };
    return {
      pool: load.pool,
      needed: load.needed,
      free: load.free,
      ...(load.unknown ? reservedOnly : this.#promisedBytes(load, sum)),
      limit: memoryLimit() || null,
      ahead: ahead.bytes,
      awaited: ahead.awaitedSlots,
      holders: inPool.map((use) => this.#holder(use)),
      waitingSince,
      now,
      isRequested: load.isRequested,
    };
  }

  /** What the free bytes of a pool do not show yet. Those of the machine alone are read for each decision. */
  #promisedBytes(
    { pool, stale }: LoadRequest,
    sum: (bytes: (current: Readonly<EngineRun>) => number) => number,
  ) {
    const reserved = sum((current) => reservedBytes(current, this.#anonymous(current)));
    if (pool === HOST_POOL && !stale) return { reserved, unreported: 0 };
    const now = this.#deps.clock.now();
    const unreported = sum((current) => unreportedBytes(current, now));
    return { reserved: reserved + unreported, unreported: unreported + this.#recentlyFreed.bytes(pool) };
  }

  #holder(use: MemoryUse) {
    const { launch, pool, weightBytes } = use.current;
    return toHolder(use, {
      anonymous: this.#anonymous(use.current),
      reloadMs: this.#deps.measurements.loadMs(launch, pool, weightBytes),
    });
  }

  #anonymous({ running }: Readonly<EngineRun>): number {
    return running.pid === null ? 0 : (this.#deps.memoryOf(running.pid)?.anonymous ?? 0);
  }
}

const loadRequest = (
  config: SlotConfig,
  headroom: MemoryHeadroom,
  needed: number,
  isRequested: boolean,
): LoadRequest => ({
  slot: config.name,
  pool: headroom.pool,
  free: headroom.free,
  needed,
  isRequested,
  ...(headroom.stale && { stale: true }),
  ...(headroom.unknown && { unknown: true }),
});

function forecastView(decision: LoadDecision): LoadForecastView {
  const { kind, sum } = decision;
  if (kind === 'start') return { outcome: 'starts', evicts: [], sum };
  if (kind === 'refuse') return { outcome: 'refused', evicts: [], sum };
  const atOnce = decision.for.length > 0 && decision.for.every((name) => decision.evict.includes(name));
  return { outcome: atOnce ? 'evicts' : 'waits', evicts: [...decision.for], sum };
}
