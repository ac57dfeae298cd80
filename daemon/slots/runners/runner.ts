import type { Launch } from '../engines/engine.ts';
import type { RunnerId } from '../engines/run-spec.ts';

/** The address of a started engine and the headers it requires (its own key, never one of the gateway's). */
export interface Endpoint {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly headers: Record<string, string>;
}

/** What an engine reports once its model is loaded. */
export interface LoadedEngine extends Endpoint {
  /** The backend in use. */
  readonly device: string;
  /** Window per sequence in tokens. */
  readonly context: number;
  readonly parallel: number;
  readonly threads: number;
  /** Layers on the device, and the total number of layers. */
  readonly layers?: { readonly placed: number; readonly total: number };
}

/** How and why an engine ended; the reason is one line without paths. */
export interface EngineExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly reason: string;
}

/** One started engine. */
export interface RunningEngine {
  readonly pid: number | null;
  /** Resolves when the image is on this machine and the load begins; absent for engines without an image. */
  readonly fetched?: Promise<void> | undefined;
  /**
   * Resolves when the model is loaded. Never settles when the engine ends before that, so watch `ended` as well.
   */
  readonly loaded: Promise<LoadedEngine>;
  /** Resolves when the end was observed. Never rejects. */
  readonly ended: Promise<EngineExit>;
  /** Called once when the engine has passed its checks, before it serves. Never rejects. */
  prepare?(signal: AbortSignal): Promise<void>;
  /** Returns the progress of the load, 0 to 1; null when the engine does not report it. */
  progress(): number | null;
  /** Returns the last lines of the engine's output, oldest first. */
  lines(): readonly string[];
  /** Returns the lines of output since a time in Unix milliseconds; absent for an engine whose output is not read. */
  linesSince?(time: number): readonly string[];
  /**
   * Probes a server of someone else at once. Resolves with whether it responds; may never settle when the engine ends
   * instead. Absent for engines that are watched by the slot.
   */
  check?(): Promise<boolean>;
  /** Returns the bytes of a card that a server of someone else reports to hold; null when unknown. */
  heldBytes?(): number | null;
  /** Stops it, kills it after `graceMs`, and resolves when the end was observed. May be called twice. */
  stop(graceMs: number): Promise<EngineExit>;
}

/** Runs engines in one way. It does not know about models. */
export interface Runner {
  readonly id: RunnerId;
  /** Starts an engine immediately. Errors appear as `ended`. Never throws. Gets launches of its own kind only. */
  start(launch: Launch): RunningEngine;
  /**
   * Called once, before the first start: ends what an earlier gateway left running, or keeps it for a slot in
   * `wanted`. Resolves to the slots whose engine was kept; the runner's own first start waits for it. Never rejects.
   */
  reconcile?(wanted: ReadonlySet<string>): Promise<ReadonlySet<string>>;
  /** Called when the gateway stops: `stop` may then leave a loaded engine running that the next start can adopt. */
  detach?(): void;
}

/** Returns a RunningEngine for an engine that could not be started. */
export function failedStart(reason: string): RunningEngine {
  const ended = Promise.resolve({ code: null, signal: null, reason });
  const loaded = Promise.withResolvers<LoadedEngine>().promise;
  return { pid: null, loaded, ended, progress: () => null, lines: () => [], stop: () => ended };
}
