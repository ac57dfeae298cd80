import type { GatewayEvents } from '../contract/events.ts';
import type { Bus } from '../lib/async/event-bus.ts';
import type { Patience } from '../lib/fs/mount-guard.ts';
import type { Log } from '../lib/log.ts';
import type { Outbound } from '../lib/net/outbound.ts';
import type { Settings } from '../settings/settings.ts';
import type { MemoryHeadroom, PlannedReservations } from './admission/launch-plan.ts';
import type { BindableModel } from './binding/bindings.ts';
import type { TextStore } from './binding/stored-bindings.ts';
import type { SlotConfig } from './config/slot-config.ts';
import type { SlotModel } from './engines/engine.ts';
import type { Clock } from './lifecycle/clock.ts';
import type { QueryEngine } from './lifecycle/health.ts';
import type { WatchPace } from './lifecycle/watch.ts';
import type { Runner } from './runners/runner.ts';

/** What the slots are made of and look at. */
export interface SlotsOptions {
  readonly settings: Pick<Settings, 'folders' | 'value' | 'environment'>;
  readonly log: Log;
  readonly bus: Bus<GatewayEvents>;
  readonly outbound: Outbound;
  /** The model that a slot names or, for slot `agent`, that it should hold by itself; null when there is none. */
  modelFor(slot: SlotConfig): SlotModel | null;
  /** Every usable model, so that each has a slot; default none. */
  models?(): readonly BindableModel[];
  /** Ids of models that are out of sight and may come back; their automatic slots wait for them. Default none. */
  absentModels?(): readonly string[];
  /** Where it is remembered which model has which automatic slot. */
  readonly bindingStore?: TextStore;
  /** Where it is remembered what launches took on this machine. */
  readonly measurementStore?: TextStore;
  /** The memory that a load of so many bytes draws from on a device (`auto`, `cpu`, `vulkan:N`, `cuda:N`). */
  headroom(device: string, needed: number, planned?: PlannedReservations): MemoryHeadroom;
  /** Bytes that a family of processes holds of a card's own memory; null, the default, where the machine does not tell. */
  cardMemoryOf?(pid: number, card: string): Promise<number | null>;
  /** Why this machine's GPU may have been left out; null when it has none, which is the default. */
  gpuNote?(): string | null;
  /** What stands in no record, whatever a slot file holds; default nothing. */
  secrets?(): readonly string[];
  /** Physical cores that the engines may use. */
  readonly cores: number;
  /** The Node 24 binary of the engines; default the one that runs this. */
  readonly nodePath?: string;
  readonly workerPath?: string;
  /** The port of the gateway's own listener; default the setting. */
  listenPort?(): number;
  /** Where sockets of container engines may be, best first; default none is looked for. */
  containerSockets?(): readonly string[];
  /** How disks are asked that may not answer; default with the usual limits. */
  readonly patience?: Patience;
  readonly clock?: Clock;
  /** Runs every engine, in the place of the runners that their launches name. */
  readonly runner?: Runner;
  /** How started engines are checked; default over `outbound`. */
  readonly queryEngine?: QueryEngine;
  /** How closely ready engines are watched; default {@link WATCH_PACE}. */
  readonly watchPace?: WatchPace | undefined;
}
