import type { LoadForecastView, SlotStateName } from '../../contract/slots.ts';
import type { ProcessMemory } from '../../lib/process/process-memory.ts';
import type { SlotConfig } from '../config/slot-config.ts';
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
  heldBytes,
  type MemoryUse,
  onCpu,
  poolOf,
  reservedBytes,
  reservedOnHost,
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
  /** Returns the memory use of every slot that has an engine, including slots that are being removed. */
  memoryUses(): readonly MemoryUse[];
  /**
   * Returns whether the engine of this slot already runs and is only adopted. Its memory is taken, so there is
   * nothing to decide.
   */
  isAlreadyRunning(slot: string): boolean;
  /**
   * Reads the free memory of the cards again when the last figure is older than a second. Returns whether a reading is
   * under way.
   */
  rereadCards(): boolean;
  /** Returns the memory of a process and its descendants now; `measureMemory` reads it exactly, and takes longer. */
  memoryOf(pid: number): ProcessMemory | null;
  measureMemory(pid: number): Promise<ProcessMemory | null>;
  /**
   * Returns the bytes that such processes hold on a card; null where the machine does not report it. Never rejects.
   */
  cardMemoryOf(pid: number, card: string): Promise<number | null>;
  /** Frees host memory that counts as free, so that a load gets what it was promised. */
  reclaimHost(bytes: number): void;
  evict(slot: string): void;
  retry(slot: string): void;
}

/** The outcome of admission for a load if it were decided now. */
export interface Forecast {
  readonly plan: LaunchPlan;
  readonly view: LoadForecastView;
}

/** The conditions of one load, in addition to the slots that hold memory. */
interface LoadTerms {
  /** False when no caller waits for the load. Default true. */
  readonly isRequested?: boolean;
  /** The memory that the slot itself holds now and would release. */
  readonly released?: { readonly pool: string; readonly bytes: number } | null;
  readonly planned?: PlannedReservations | undefined;
  /** The pool, when it is already chosen. */
  readonly pool?: string;
}

/** Decides on all loads of this gateway: what each needs, what is free, which slots are evicted. */
export class AdmissionController {
  readonly #deps: AdmissionDeps;
  readonly #queue: AdmissionQueue;
  readonly #recentlyFreed: RecentlyFreed;
  readonly #footprints: Footprints;
  /** The bytes that the attached server of a slot released when it was unloaded. */
  readonly #releasedBytes = new Map<string, number>();

  constructor(deps: AdmissionDeps) {
    this.#deps = deps;
    this.#recentlyFreed = new RecentlyFreed(deps.clock);
    this.#footprints = new Footprints(deps.clock, deps.measurements, {
      measureMemory: (pid) => deps.measureMemory(pid),
      cardMemoryOf: (pid, card) => deps.cardMemoryOf(pid, card),
      isServing: (run) =>
        deps.memoryUses().some(({ current, state }) => current === run && SERVING_STATES.has(state)),
    });
    this.#queue = new AdmissionQueue({
      clock: deps.clock,
      decide: (...load) => this.#decideIn(deps.memoryUses(), ...load),
      evict: (slot) => deps.evict(slot),
      retry: (slot) => deps.retry(slot),
    });
  }

  /** The slots whose loads wait for memory, in queue order. */
  get waiting(): readonly string[] {
    return this.#queue.waiting;
  }

  /**
   * Decides on one load. Throws 507 `slot.no_memory` with the memory sum, or `slot.failed` when the slot has no
   * fitting model.
   */
  admit(config: SlotConfig, isRequested: boolean): AdmissionOutcome {
    const uses = this.#deps.memoryUses();
    const plan = this.#plan(config, this.#deps.model(config), uses, { isRequested });
    const load = loadRequest(config, plan.headroom, plan.need, isRequested);
    if (plan.headroom.refreshing || this.#awaitsCardFigures(load, uses)) {
      return { ...this.#queue.defer(load), undecided: true };
    }
    if (this.#deps.isAlreadyRunning(config.name)) this.#queue.withdraw(config.name);
    else {
      const admission = this.#queue.admit(load);
      if (admission.kind === 'refuse') throw noMemoryError(config.name, admission.sum);
      if (admission.kind === 'wait') return admission;
    }
    const { launch, need, headroom, weightBytes, deferred } = plan;
    const hostBytes = headroom.pool === HOST_POOL ? need.total : need.host;
    if (hostBytes > 0) this.#deps.reclaimHost(hostBytes);
    const admitted = {
      launch,
      pool: headroom.pool,
      neededBytes: need.total,
      needSource: need.source,
      estimatedBytes: estimateOf(need),
      weightBytes,
      ...deferred,
      ...(need.host === 0 ? {} : { hostBytes: need.host }),
    };
    return { kind: 'start', admitted };
  }

  /**
   * Returns what a load of this model would need and evict. Counts the memory that the slot holds now (`own`) as
   * released, and the memory `planned` for other loads as taken. Throws like `admit`. Pure.
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
    const decision = this.#decide(loadRequest(config, headroom, need, true), others, planned);
    const leaving = decision.kind === 'wait' ? decision.for : [];
    const rest = others.filter(({ name }) => !leaving.includes(name));
    const { pool } = headroom;
    return {
      plan: this.#plan(config, model, rest, { released, planned, pool }),
      view: forecastView(decision),
    };
  }

  /** Removes a load that is no longer wanted from the queue. */
  withdraw(slot: string): void {
    this.#queue.withdraw(slot);
  }

  /** Rechecks the waiting loads. Call it after any change of a slot. */
  changed(): void {
    this.#queue.changed();
  }

  ready(current: Readonly<EngineRun>): void {
    this.#footprints.ready(current);
  }

  serving(current: Readonly<EngineRun>): void {
    this.#footprints.serving(current);
  }

  served(current: Readonly<EngineRun>): void {
    this.#footprints.served(current);
  }

  ended(current: Readonly<EngineRun>): void {
    if (onCpu(current)) return;
    const { how, slot } = current.launch;
    const bytes = heldBytes(current);
    this.#recentlyFreed.add(poolOf(current), bytes);
    if (how.runner === 'attach' && bytes > 0) this.#releasedBytes.set(slot, bytes);
  }

  /**
   * Returns whether a load that does not fit a card must wait for newer figures: another program may have released its
   * memory since the last reading.
   */
  #awaitsCardFigures(load: LoadRequest, uses: readonly MemoryUse[]): boolean {
    if (load.unknown || (load.pool === HOST_POOL && !load.stale)) return false;
    if (this.#deps.isAlreadyRunning(load.slot)) return false;
    return this.#decide(load, uses).kind !== 'start' && this.#deps.rereadCards();
  }

  #decide(load: LoadRequest, others: readonly MemoryUse[], planned?: PlannedReservations): LoadDecision {
    const since = this.#queue.since(load.slot) ?? this.#deps.clock.now();
    return this.#decideIn(others, load, this.#queue.queuedAhead(load.slot, load.pool), since, planned);
  }

  /** Decides on a load in its pool and, for what it takes of the host as well, on the host too. */
  #decideIn(
    others: readonly MemoryUse[],
    load: LoadRequest,
    ahead: QueuedAhead,
    since: number,
    planned?: PlannedReservations,
  ): LoadDecision {
    const decideOne = (one: LoadRequest, before: QueuedAhead) => {
      const snapshot = this.#snapshot(others, one, before, since);
      const plannedBytes = planned?.get(one.pool) ?? 0;
      return decideLoad({
        ...snapshot,
        limit: snapshot.limit === null ? null : snapshot.limit - plannedBytes,
      });
    };
    const decision = decideOne(load, ahead);
    if (load.host === undefined || decision.kind !== 'start') return decision;
    const { slot, isRequested } = load;
    const { free } = this.#deps.headroom('cpu', load.host, planned);
    const onHost = decideOne({ slot, isRequested, pool: HOST_POOL, needed: load.host, free }, NOTHING_AHEAD);
    return onHost.kind === 'start' ? decision : onHost;
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
      releasedBytes: this.#releasedBytes.get(config.name) ?? 0,
      measured: (launch, pool, size) => deps.measurements.bytes(launch, pool, size),
    };
    return planLoad(config, input);
  }

  /**
   * Returns the memory that a load draws from. With several cards: the chosen pool, otherwise the card on which the
   * load does best.
   */
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
      this.#decide(loadRequest(config, headroom, { total: needed, host: 0 }, isRequested), others, planned);
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
    const onHost = (current: Readonly<EngineRun>) => reservedOnHost(current, this.#anonymous(current));
    const hostReserved =
      load.pool === HOST_POOL ? others.reduce((all, { current }) => all + onHost(current), 0) : 0;
    const reservedOnly = { reserved: sum(heldBytes), unreported: 0 };
    return {
      pool: load.pool,
      needed: load.needed,
      free: load.free,
      ...(load.unknown ? reservedOnly : this.#promisedBytes(load, sum, hostReserved)),
      limit: memoryLimit() || null,
      ahead: ahead.bytes,
      awaited: ahead.awaitedSlots,
      holders: inPool.map((use) => this.#holder(use)),
      waitingSince,
      now,
      isRequested: load.isRequested,
    };
  }

  /**
   * Returns the bytes that the free figure of a pool does not show yet. Only the host figure is read again for each
   * decision; all others may be seconds old.
   */
  #promisedBytes(
    { pool, stale }: LoadRequest,
    sum: (bytes: (current: Readonly<EngineRun>) => number) => number,
    hostReserved: number,
  ) {
    const reserved = hostReserved + sum((current) => reservedBytes(current, this.#anonymous(current)));
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

/** The states in which an engine may serve a request. */
const SERVING_STATES: ReadonlySet<SlotStateName> = new Set(['serving', 'draining']);

const NOTHING_AHEAD: QueuedAhead = { bytes: 0, awaitedSlots: [] };

const loadRequest = (
  config: SlotConfig,
  headroom: MemoryHeadroom,
  { total, host }: Pick<LaunchPlan['need'], 'total' | 'host'>,
  isRequested: boolean,
): LoadRequest => ({
  slot: config.name,
  pool: headroom.pool,
  free: headroom.free,
  needed: total,
  isRequested,
  ...(host > 0 && { host }),
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
