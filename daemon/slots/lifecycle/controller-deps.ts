import type { Log } from '../../lib/log.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { Launch, SlotModel } from '../engines/engine.ts';
import type { Loaded, Running } from '../runners/runner.ts';
import type { Clock } from './clock.ts';
import type { AskEngine } from './health.ts';
import type { SignOfLife } from './liveness-probe.ts';
import type { WatchPace } from './watch.ts';

/** A load that was let through: what runs, and the memory that is set aside for it in bytes. */
export interface Admitted {
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
export type AdmitOutcome =
  | { readonly kind: 'start'; readonly admitted: Admitted }
  | {
      readonly kind: 'wait';
      readonly for: readonly string[];
      /** Figures are being read first: it may still be refused at once. */
      readonly undecided?: true;
    };

/** One engine from its start to its end. */
export interface Current extends Admitted {
  /** The settings that it was started with. */
  readonly config: SlotConfig;
  readonly running: Running;
  /** Its start was the trial of a slot that had failed. */
  readonly trial: boolean;
  /** Aborted when the start is cut. */
  readonly control: AbortController;
  /** Unix milliseconds. */
  readonly startedAt: number;
  loaded: Loaded | null;
  /** Unix milliseconds; null until it is ready. */
  readySince: number | null;
}

/** The effects that the owner of a slot decides about. */
export interface OwnerParts {
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
  admit(config: SlotConfig, asked: boolean): AdmitOutcome;
  /** A load that waits is not wanted any more. */
  leaveLine(): void;
  start(config: SlotConfig, launch: Launch): Running;
  check(config: SlotConfig, launch: Launch, loaded: Loaded, signal: AbortSignal): Promise<void>;
  /** How a ready engine is asked whether it lives; null when it is not watched. */
  signOfLife(config: SlotConfig, launch: Launch): SignOfLife | null;
  readonly ask: AskEngine;
  /** How closely a ready engine is watched; default {@link WATCH_PACE}. */
  readonly watchPace?: WatchPace | undefined;
  residentBytes(pid: number): number | null;
  /** Why this machine's GPU may have been left out; null when it has none. */
  gpuNote(): string | null;
  /** What stands in no record. */
  secrets?(): readonly string[];
  /** An engine is ready, has served a request, has ended. */
  ready(current: Readonly<Current>): void;
  served(current: Readonly<Current>): void;
  ended(current: Readonly<Current>): void;
  /** It ended by itself: its start failed, or it crashed. */
  failed(current: Readonly<Current>): void;
  /** Something in the record has changed. */
  changed(): void;
}
