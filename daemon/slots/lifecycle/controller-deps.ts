import type { Log } from '../../lib/log.ts';
import type { NeedSource } from '../admission/memory-estimate.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { Launch, SlotModel } from '../engines/engine.ts';
import type { SavedStates } from '../kv-cache/slot-conversations.ts';
import type { LoadedEngine, RunningEngine } from '../runners/runner.ts';
import type { Clock } from './clock.ts';
import type { QueryEngine } from './health.ts';
import type { LivenessProbe } from './liveness-probe.ts';
import type { WatchPace } from './watch.ts';

/** The memory that a running engine has not taken yet and may take at any time, in bytes. */
export interface DeferredMemory {
  /** The weights that are mapped from their file, so that the kernel may drop them. */
  readonly mappedBytes: number;
  /** The maximum of what it takes later, the mapped weights included. */
  readonly deferredBytes: number;
}

/** An admitted load: what to start, and the bytes that are reserved for it. */
export interface AdmittedLoad extends Partial<DeferredMemory> {
  readonly launch: Launch;
  /** Id of the memory pool that it uses. */
  readonly pool: string;
  readonly neededBytes: number;
  readonly needSource: NeedSource;
  /** The estimate of its need, without measurements. */
  readonly estimatedBytes: number;
  /** The size of the model. `mappedBytes` and `deferredBytes` are the same by default. */
  readonly weightBytes: number;
  /** Bytes on the host in addition to `neededBytes` on a card. Default 0. */
  readonly hostBytes?: number;
}

/** The decision of admission: the load starts, or it waits until these slots have ended. */
export type AdmissionOutcome =
  | { readonly kind: 'start'; readonly admitted: AdmittedLoad }
  | {
      readonly kind: 'wait';
      readonly for: readonly string[];
      /** Memory figures are being read first. The load may still be refused. */
      readonly undecided?: true;
    };

/** One run of an engine, from its start to its end. */
export interface EngineRun extends AdmittedLoad {
  /** The settings with which it was started. */
  readonly config: SlotConfig;
  readonly running: RunningEngine;
  /** Whether its start was the trial of a failed slot. */
  readonly trial: boolean;
  /** Aborted when the start is cancelled. */
  readonly control: AbortController;
  /** Unix milliseconds. */
  readonly startedAt: number;
  loaded: LoadedEngine | null;
  /** Unix milliseconds; null until it is ready. */
  readySince: number | null;
}

/** A call to an engine that failed. */
export interface FailedCall {
  /** Its start in Unix milliseconds. */
  readonly since: number;
  /** The engine responded to it. */
  readonly isAnswered: boolean;
}

/** What is known about an engine after a call to it failed. */
export interface EngineDiagnosis {
  /** Why the engine has ended, in one sentence; null while it runs. */
  readonly reason: string | null;
  /** The last lines of its output since the call began that name a cause, without paths. */
  readonly lines: readonly string[];
}

/** What a slot controller needs: readings, and the effects of its decisions. */
export interface SlotControllerDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Returns the maximum number of callers that may wait for one slot. */
  queueMax(): number;
  /** Returns the milliseconds that a caller may wait for a load. */
  loadWaitMs(stream: boolean): number;
  /** Returns the model that the slot would load now. */
  model(config: SlotConfig): SlotModel | null;
  /**
   * Decides on a load. `isRequested` says whether a caller waits for it; otherwise it takes free memory only. A
   * load that has to wait is retried through `SlotController.retry`. Throws GatewayError (`slot.no_memory`,
   * `slot.failed`) for a load that is not possible.
   */
  admit(config: SlotConfig, isRequested: boolean): AdmissionOutcome;
  /** Removes a waiting load that is no longer wanted. */
  withdrawLoad(): void;
  start(config: SlotConfig, launch: Launch): RunningEngine;
  check(config: SlotConfig, launch: Launch, loaded: LoadedEngine, signal: AbortSignal): Promise<void>;
  /** Returns the liveness probe of a ready engine; null when it is not watched. */
  livenessProbe(config: SlotConfig, launch: Launch): LivenessProbe | null;
  readonly query: QueryEngine;
  /** Intervals and limits of the health watch; default {@link WATCH_PACE}. */
  readonly watchPace?: WatchPace | undefined;
  residentBytes(pid: number): number | null;
  /** The saved states of conversations; default none. */
  readonly savedStates?: SavedStates | undefined;
  /** Returns why this machine's GPU may be unused; null when there is no reason. */
  gpuNote(): string | null;
  /** Values that no record may contain. */
  secrets?(): readonly string[];
  /**
   * Called when an engine is ready (`ready`), when an idle one gets a request (`serving`), after each request
   * (`served`) and at its end (`ended`).
   */
  ready(current: Readonly<EngineRun>): void;
  serving(current: Readonly<EngineRun>): void;
  served(current: Readonly<EngineRun>): void;
  ended(current: Readonly<EngineRun>): void;
  /** Called when an engine ended on its own: its start failed, or it crashed. */
  failed(current: Readonly<EngineRun>): void;
  /** Called when the record of the slot has changed. */
  changed(): void;
}
