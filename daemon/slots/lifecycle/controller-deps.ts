import type { Log } from '../../lib/log.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { Launch, SlotModel } from '../engines/engine.ts';
import type { LoadedEngine, RunningEngine } from '../runners/runner.ts';
import type { Clock } from './clock.ts';
import type { QueryEngine } from './health.ts';
import type { LivenessProbe } from './liveness-probe.ts';
import type { WatchPace } from './watch.ts';

/** A load that was let through: what runs, and the memory that is set aside for it in bytes. */
export interface AdmittedLoad {
  readonly launch: Launch;
  /** Id of the memory pool that it takes from. */
  readonly pool: string;
  readonly neededBytes: number;
  readonly needSource: 'estimated' | 'measured';
  /** What it was reckoned to need before anything was measured. */
  readonly estimatedBytes: number;
  /** The part of it that is mapped from the model's file. */
  readonly weightBytes: number;
}

/** What admission says to a load: it runs, or it waits until these slots have left. */
export type AdmissionOutcome =
  | { readonly kind: 'start'; readonly admitted: AdmittedLoad }
  | {
      readonly kind: 'wait';
      readonly for: readonly string[];
      /** Figures are being read first: it may still be refused at once. */
      readonly undecided?: true;
    };

/** One engine from its start to its end. */
export interface EngineRun extends AdmittedLoad {
  /** The settings that it was started with. */
  readonly config: SlotConfig;
  readonly running: RunningEngine;
  /** Its start was the trial of a slot that had failed. */
  readonly trial: boolean;
  /** Aborted when the start is cut. */
  readonly control: AbortController;
  /** Unix milliseconds. */
  readonly startedAt: number;
  loaded: LoadedEngine | null;
  /** Unix milliseconds; null until it is ready. */
  readySince: number | null;
}

/** The effects that the owner of a slot decides about. */
export interface SlotControllerDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Most callers that wait for one slot. */
  queueMax(): number;
  /** Milliseconds that a caller waits for a load. */
  loadWaitMs(stream: boolean): number;
  /** The model that the slot would load now. */
  model(config: SlotConfig): SlotModel | null;
  /**
   * Decides on a load; `asked` is whether somebody waits for it, else it takes free memory only. One that has to wait is
   * told by `Owner.retry`. Throws GatewayError (`slot.no_memory`, `slot.failed`) for a load that cannot be.
   */
  admit(config: SlotConfig, isRequested: boolean): AdmissionOutcome;
  /** A load that waits is not wanted any more. */
  withdrawLoad(): void;
  start(config: SlotConfig, launch: Launch): RunningEngine;
  check(config: SlotConfig, launch: Launch, loaded: LoadedEngine, signal: AbortSignal): Promise<void>;
  /** How a ready engine is asked whether it lives; null when it is not watched. */
  livenessProbe(config: SlotConfig, launch: Launch): LivenessProbe | null;
  readonly query: QueryEngine;
  /** How closely a ready engine is watched; default {@link WATCH_PACE}. */
  readonly watchPace?: WatchPace | undefined;
  residentBytes(pid: number): number | null;
  /** Why this machine's GPU may have been left out; null when it has none. */
  gpuNote(): string | null;
  /** What stands in no record. */
  secrets?(): readonly string[];
  /** An engine is ready, has served a request, has ended. */
  ready(current: Readonly<EngineRun>): void;
  served(current: Readonly<EngineRun>): void;
  ended(current: Readonly<EngineRun>): void;
  /** It ended by itself: its start failed, or it crashed. */
  failed(current: Readonly<EngineRun>): void;
  /** Something in the record has changed. */
  changed(): void;
}
