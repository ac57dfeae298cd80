import type { LoadForecastView } from '../../contract/slots.ts';
import type { ProcessMemory } from '../../lib/process/process-identity.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { SlotModel } from '../engines/engine.ts';
import { takesCard } from '../engines/visible-devices.ts';
import type { Clock } from '../lifecycle/clock.ts';
import type { AdmitOutcome, Current } from '../lifecycle/controller-deps.ts';
import { noMemoryError } from '../refusals.ts';
import { chooseRoom } from './choose-device.ts';
import { decideLoad, type LoadDecision, type MemoryPicture } from './eviction.ts';
import { type Beside, type Order, type OrderPicture, orderLoad, type Room } from './launch-plan.ts';
import type { Measures } from './measured-memory.ts';
import { estimateOf } from './memory-estimate.ts';
import { Footprints } from './memory-measurement.ts';
import {
  HOST_POOL,
  type Holding,
  onCpu,
  poolOf,
  reservedBytes,
  settlingBytes,
  toHolder,
} from './memory-use.ts';
import { type Ahead, type Applicant, LoadLine } from './queue.ts';
import { Departures } from './recently-freed.ts';

export interface LoadsParts {
  readonly clock: Clock;
  readonly measures: Measures;
  readonly cores: number;
  cpuThreads(): number;
  queueMax(): number;
  /** Setting `memoryLimit` in bytes; 0 = none. */
  memoryLimit(): number;
  room(device: string, needed: number, beside?: Beside): Room;
  model(config: SlotConfig): SlotModel | null;
  /** What every slot that has an engine holds, those that are about to be removed included. */
  holdings(): readonly Holding[];
  /** The engine of this slot runs already and is only taken up: it has its memory, and there is nothing to decide. */
  runsAlready(slot: string): boolean;
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
  readonly order: Order;
  readonly view: LoadForecastView;
}

/** What one load is planned by, beside the slots that hold memory. */
interface Terms {
  /** False: nobody waits for it. Default true. */
  readonly asked?: boolean;
  /** What the slot itself holds now and would give back. */
  readonly given?: { readonly pool: string; readonly bytes: number } | null;
  readonly beside?: Beside | undefined;
  /** The pool that is chosen already. */
  readonly pool?: string;
}

/** All loads of this gateway: what each needs, what is there, who leaves for whom. */
export class Loads {
  readonly #parts: LoadsParts;
  readonly #line: LoadLine;
  readonly #departures: Departures;
  readonly #footprints: Footprints;

  constructor(parts: LoadsParts) {
    this.#parts = parts;
    this.#departures = new Departures(parts.clock);
    this.#footprints = new Footprints(parts.clock, parts.measures, parts);
    this.#line = new LoadLine({
      clock: parts.clock,
      decide: (...load) => decideLoad(this.#picture(parts.holdings(), ...load)),
      evict: (slot) => parts.evict(slot),
      retry: (slot) => parts.retry(slot),
    });
  }

  /** Slots whose loads wait for memory, first one first. */
  get waiting(): readonly string[] {
    return this.#line.waiting;
  }

  /** Decides on one load; throws 507 `slot.no_memory` with the sum, or `slot.failed` without a fitting model. */
  admit(config: SlotConfig, asked: boolean): AdmitOutcome {
    const order = this.#order(config, this.#parts.model(config), this.#parts.holdings(), { asked });
    const load = applicant(config, order.room, order.need.total, asked);
    if (order.room.reading) return { ...this.#line.hold(load), undecided: true };
    if (this.#parts.runsAlready(config.name)) this.#line.leave(config.name);
    else {
      const admission = this.#line.admit(load);
      if (admission.kind === 'refuse') throw noMemoryError(config.name, admission.sum);
      if (admission.kind === 'wait') return admission;
    }
    const { launch, need, room, weightBytes } = order;
    const admitted = {
      launch,
      pool: room.pool,
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
  forecast(config: SlotConfig, model: SlotModel | null, own: Holding | null, beside?: Beside): Forecast {
    const others = this.#parts.holdings().filter(({ current }) => current !== own?.current);
    const given = own === null ? null : { pool: poolOf(own.current), bytes: this.#holder(own).frees };
    const first = this.#order(config, model, others, { given, beside });
    const { room, need } = first;
    const decision = this.#decide(applicant(config, room, need.total, true), others, beside);
    const gone = decision.kind === 'wait' ? decision.for : [];
    const rest = others.filter(({ name }) => !gone.includes(name));
    const { pool } = room;
    return { order: this.#order(config, model, rest, { given, beside, pool }), view: forecastView(decision) };
  }

  /** The load of a slot is not wanted any more. */
  leave(slot: string): void {
    this.#line.leave(slot);
  }

  /** A slot has changed in some way. */
  changed(): void {
    this.#line.changed();
  }

  ready(current: Readonly<Current>): void {
    this.#footprints.ready(current);
  }

  served(current: Readonly<Current>): void {
    this.#footprints.served(current);
  }

  ended(current: Readonly<Current>): void {
    if (!onCpu(current)) this.#departures.note(poolOf(current), current.neededBytes);
  }

  #decide(load: Applicant, others: readonly Holding[], beside?: Beside): LoadDecision {
    const since = this.#line.since(load.slot) ?? this.#parts.clock.now();
    const picture = this.#picture(others, load, this.#line.aheadOf(load.slot, load.pool), since);
    const planned = beside?.get(load.pool) ?? 0;
    return decideLoad({ ...picture, limit: picture.limit === null ? null : picture.limit - planned });
  }

  #order(config: SlotConfig, model: SlotModel | null, others: readonly Holding[], terms: Terms): Order {
    const parts = this.#parts;
    const picture: OrderPicture = {
      model,
      others: others.map(({ current }) => current),
      cpuThreads: parts.cpuThreads(),
      cores: parts.cores,
      queueMax: parts.queueMax(),
      room: (device, needed) => this.#room(config, [device, needed], others, terms),
      measured: (launch, pool, size) => parts.measures.bytes(launch, pool, size),
    };
    return orderLoad(config, picture);
  }

  /** The memory that a load draws from: of several cards the one that it is chosen for, or that it does best on. */
  #room(
    config: SlotConfig,
    [device, needed]: readonly [string, number],
    others: readonly Holding[],
    { asked = true, given, beside, pool }: Terms,
  ): Room {
    const { others: further = [], ...first } = this.#parts.room(device, needed, beside);
    const withGiven = (room: Room): Room =>
      room.untold || room.pool !== given?.pool ? room : { ...room, free: room.free + given.bytes };
    const rooms = [withGiven(first), ...further.map(withGiven)] as const;
    if (further.length === 0 || !takesCard(config)) return rooms[0];
    const chosen = rooms.find((room) => room.pool === pool);
    const decide = (room: Room) => this.#decide(applicant(config, room, needed, asked), others, beside);
    return chosen ?? chooseRoom([...rooms], decide, this.#line.poolOf(config.name));
  }

  #picture(others: readonly Holding[], load: Applicant, ahead: Ahead, waitingSince: number): MemoryPicture {
    const { clock, memoryLimit } = this.#parts;
    const now = clock.now();
    const inPool = others.filter(({ current }) => poolOf(current) === load.pool);
    const sum = (bytes: (current: Readonly<Current>) => number) =>
      inPool.reduce((all, { current }) => all + bytes(current), 0);
    const held = { reserved: sum(({ neededBytes }) => neededBytes), settling: 0 };
    return {
      pool: load.pool,
      needed: load.needed,
      free: load.free,
      ...(load.untold ? held : this.#promised(load, sum)),
      limit: memoryLimit() || null,
      ahead: ahead.bytes,
      awaited: ahead.awaited,
      holders: inPool.map((holding) => this.#holder(holding)),
      waitingSince,
      now,
      asked: load.asked,
    };
  }

  /** What the free bytes of a pool do not show yet. Those of the machine alone are read for each decision. */
  #promised({ pool, aged }: Applicant, sum: (bytes: (current: Readonly<Current>) => number) => number) {
    const reserved = sum((current) => reservedBytes(current, this.#anonymous(current)));
    if (pool === HOST_POOL && !aged) return { reserved, settling: 0 };
    const now = this.#parts.clock.now();
    const settling = sum((current) => settlingBytes(current, now));
    return { reserved: reserved + settling, settling: settling + this.#departures.bytes(pool) };
  }

  #holder(holding: Holding) {
    const { launch, pool, weightBytes } = holding.current;
    return toHolder(holding, {
      anonymous: this.#anonymous(holding.current),
      reloadMs: this.#parts.measures.loadMs(launch, pool, weightBytes),
    });
  }

  #anonymous({ running }: Readonly<Current>): number {
    return running.pid === null ? 0 : (this.#parts.memoryOf(running.pid)?.anonymous ?? 0);
  }
}

const applicant = (config: SlotConfig, room: Room, needed: number, asked: boolean): Applicant => ({
  slot: config.name,
  pool: room.pool,
  free: room.free,
  needed,
  asked,
  ...(room.aged && { aged: true }),
  ...(room.untold && { untold: true }),
});

function forecastView(decision: LoadDecision): LoadForecastView {
  const { kind, sum } = decision;
  if (kind === 'start') return { outcome: 'starts', evicts: [], sum };
  if (kind === 'refuse') return { outcome: 'refused', evicts: [], sum };
  const atOnce = decision.for.length > 0 && decision.for.every((name) => decision.evict.includes(name));
  return { outcome: atOnce ? 'evicts' : 'waits', evicts: [...decision.for], sum };
}
