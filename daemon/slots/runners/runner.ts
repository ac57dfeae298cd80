import type { Launch } from '../engines/engine.ts';
import type { RunnerId } from '../engines/run-spec.ts';

/** Where a started engine answers and the headers it demands (its own key; never one of the gateway's). */
export interface Endpoint {
  /** `http://127.0.0.1:PORT`. */
  readonly origin: string;
  readonly headers: Record<string, string>;
}

/** What an engine says of itself once its model is loaded. */
export interface LoadedEngine extends Endpoint {
  /** The backend in use. */
  readonly device: string;
  /** Window per sequence in tokens. */
  readonly context: number;
  readonly parallel: number;
  readonly threads: number;
  /** Layers on the device, of all that the model has. */
  readonly layers?: { readonly placed: number; readonly total: number };
}

/** The end of an engine and why, in one line without paths. */
export interface EngineExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly reason: string;
}

/** One started engine. */
export interface RunningEngine {
  readonly pid: number | null;
  /** Resolves when what the engine is made of is on this machine, and its load begins; absent: it always is. */
  readonly fetched?: Promise<void> | undefined;
  /** Resolves when the model is loaded; never settles when the engine ends before that: watch `ended` as well. */
  readonly loaded: Promise<LoadedEngine>;
  /** Resolves once the end was observed; never rejects. */
  readonly ended: Promise<EngineExit>;
  /** Share of the load that is done, 0 to 1; null when the engine does not tell. */
  progress(): number | null;
  /** Last lines of the engine's output, oldest first. */
  lines(): readonly string[];
  /** Asks it to end, forces it after `graceMs`, and resolves when the end was observed. May be called twice. */
  stop(graceMs: number): Promise<EngineExit>;
}

/** How an engine runs. Knows nothing of models. */
export interface Runner {
  readonly id: RunnerId;
  /** Starts at once; whatever goes wrong shows as `ended`. Never throws. Only launches of its own kind reach it. */
  start(launch: Launch): RunningEngine;
  /**
   * Told once, before the first start: what an earlier gateway left running is ended, or kept for a slot in `wanted`.
   * Resolves to the slots for which something was kept; the runner's own first start waits for it. Never rejects.
   */
  reconcile?(wanted: ReadonlySet<string>): Promise<ReadonlySet<string>>;
  /** The gateway ends: a loaded engine that the next start can adopt may be left running by its `stop`. */
  detach?(): void;
}

/** What stands for an engine that could not even be started. */
export function failedStart(reason: string): RunningEngine {
  const ended = Promise.resolve({ code: null, signal: null, reason });
  const loaded = Promise.withResolvers<LoadedEngine>().promise;
  return { pid: null, loaded, ended, progress: () => null, lines: () => [], stop: () => ended };
}
