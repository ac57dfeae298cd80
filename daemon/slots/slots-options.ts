import type { ModelFitView, ModelSpeedView } from '../contract/catalog.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { MountGuard } from '../lib/fs/mount-guard.ts';
import type { Log } from '../lib/log.ts';
import type { Outbound } from '../lib/net/outbound.ts';
import type { Settings } from '../settings/settings.ts';
import type { MemoryHeadroom, PlannedReservations } from './admission/launch-plan.ts';
import type { BindableModel } from './binding/bindings.ts';
import type { TextStore } from './binding/stored-bindings.ts';
import type { SlotConfig } from './config/slot-config.ts';
import type { SlotModel } from './engines/engine.ts';
import type { KvCache } from './kv-cache/kv-cache.ts';
import type { Clock } from './lifecycle/clock.ts';
import type { QueryEngine } from './lifecycle/health.ts';
import type { WatchPace } from './lifecycle/watch.ts';
import type { Runner } from './runners/runner.ts';

/** The dependencies and options of the slots. */
export interface SlotsOptions {
  readonly settings: Pick<Settings, 'folders' | 'value' | 'environment'>;
  readonly log: Log;
  readonly bus: EventBus<GatewayEvents>;
  readonly outbound: Outbound;
  /**
   * Returns the model that a slot names or, for slot `agent`, the one it should hold automatically; null when there
   * is none.
   */
  modelFor(slot: SlotConfig): SlotModel | null;
  /** Adds the window that a chat slot without one gets to its model. Default: unchanged. */
  withDefaultContext?(slot: SlotConfig, model: SlotModel): SlotModel;
  /** Estimates how fast a model would generate where it fits; null, the default, when that is not known. */
  speedOf?(model: SlotModel, fit: Pick<ModelFitView, 'pool'>): ModelSpeedView | null;
  /** Returns all usable models, so that each has a slot; default none. */
  models?(): readonly BindableModel[];
  /**
   * Returns the ids of models that are unavailable now and may come back; their automatic slots are reserved.
   * Default none.
   */
  absentModels?(): readonly string[];
  /** Stores which model has which automatic slot. */
  readonly bindingStore?: TextStore;
  /** Stores the measurements of launches on this machine. */
  readonly measurementStore?: TextStore;
  /**
   * Returns the memory that a load of `needed` bytes draws from on a device (`auto`, `cpu`, `vulkan:N`, `cuda:N`).
   */
  headroom(device: string, needed: number, planned?: PlannedReservations): MemoryHeadroom;
  /**
   * Returns the bytes that a process family holds on a card; null, the default, where the machine does not report
   * it.
   */
  cardMemoryOf?(pid: number, card: string): Promise<number | null>;
  /**
   * Reads the free memory of the cards again when the last figure is older than a second. Returns whether a reading is
   * under way; false, the default, where there is nothing to read.
   */
  rereadCards?(): boolean;
  /** Frees host memory that `headroom` counts as free; default nothing. */
  reclaimHost?(bytes: number): void;
  /** Returns why this machine's GPU may be unused; null, the default, when there is no reason. */
  gpuNote?(): string | null;
  /** Returns values that no record may contain, whatever a slot file holds; default none. */
  secrets?(): readonly string[];
  /** Number of physical cores for the engines. */
  readonly cores: number;
  /** The saved states of conversations; default none. */
  readonly kvCache?: KvCache;
  /** The Node 24 binary for the workers; default the current one. */
  readonly nodePath?: string;
  readonly workerPath?: string;
  /** Returns the port of the gateway's own listener; default the setting. */
  listenPort?(): number;
  /** Returns the candidate sockets of container engines, best first; default none. */
  containerSockets?(): readonly string[];
  /** Limits calls to disks that may not respond; default with the usual limits. */
  readonly mountGuard?: MountGuard;
  readonly clock?: Clock;
  /** Runs every engine, instead of the runners that their launches name. */
  readonly runner?: Runner;
  /** How started engines are queried; default over `outbound`. */
  readonly queryEngine?: QueryEngine;
  /** Intervals and limits of the health watch; default {@link WATCH_PACE}. */
  readonly watchPace?: WatchPace | undefined;
}
