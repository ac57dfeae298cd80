import type { Log } from '../kit/log.ts';
import type { Clock } from './clock.ts';
import type { Launch, SlotModel } from './engines/engine.ts';
import type { AskEngine } from './health.ts';
import type { Loaded, Running } from './runners/runner.ts';
import type { SignOfLife } from './sign-of-life.ts';
import type { SlotConfig } from './slot-file.ts';
import type { WatchPace } from './watch.ts';

/** A load that was let through: what runs, and the memory that is set aside for it in bytes. */
export interface Admitted {
  readonly launch: Launch;
  readonly neededBytes: number;
  /** The part of it that is mapped from the model's file. */
  readonly weightBytes: number;
}

/** One engine from its start to its end. */
export interface Current extends Admitted {
  readonly running: Running;
  /** Aborted when the start is cut. */
  readonly control: AbortController;
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
  /** Throws GatewayError (`slot.no_memory`, `slot.failed`) for a load that cannot be. */
  admit(config: SlotConfig): Admitted;
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
  /** Something in the record has changed. */
  changed(): void;
}
