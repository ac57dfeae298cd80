import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Log } from '../lib/log.ts';
import { SetupError } from '../lib/setup-error.ts';
import { CONFIG_FILE } from '../settings/config-text.ts';
import type { Problem } from '../settings/problem.ts';
import type { Settings } from '../settings/settings.ts';
import type { RegisteredModel } from './registered-model.ts';
import { splitParts } from './split-files.ts';

/** The file that the operator configured for slot `agent`. */
export interface ConfiguredModel {
  /** Absolute path; the first part of a split model. */
  path: string;
  /** Where it was configured, for messages. */
  origin: string;
  /** The file of the setting, for problems. */
  file: string;
  /** True for the command line. */
  isCommandLine: boolean;
  /** True for the command line and the environment, which override every file. */
  explicit: boolean;
}

const ORIGINS = { env: 'SVC_MODEL', file: 'models.agent in config.toml', default: '' } as const;

/** Returns the model of `--model`, else SVC_MODEL or `models.agent`. Null when none is configured. */
export function configuredModel(
  settings: Pick<Settings, 'resolve'>,
  override: string | null,
): ConfiguredModel | null {
  const { value, source } = settings.resolve('model');
  const named = override ?? value;
  if (named === '') return null;
  const path = resolve(named);
  return {
    path: splitParts(path)[0] ?? path,
    origin: override === null ? ORIGINS[source] : '--model',
    file: source === 'file' ? CONFIG_FILE : 'environment',
    isCommandLine: override !== null,
    explicit: override !== null || source === 'env',
  };
}

/**
 * Returns what is wrong with the configured file. Null when it can serve a chat. `found` is the model, or why
 * there is none.
 */
function findProblem(found: RegisteredModel | Error): { why: string; advice: string } | null {
  if (found instanceof Error) {
    const advice = 'Give the path of a whole .gguf chat model, or leave the setting out.';
    return { why: `which can't be used: ${found.message}`, advice };
  }
  if (found.type === 'llm') return null;
  const advice = 'Slot agent needs a chat model; put other models into a folder of models.folders.';
  return { why: `which is not a chat model (its type is ${found.type})`, advice };
}

export interface ConfiguredModelDeps {
  named: ConfiguredModel | null;
  /** Returns the known model at a path. */
  modelAt(path: string): RegisteredModel | undefined;
  /** Runs a disk operation, which rejects when the disk does not respond. */
  runOnDisk<T>(path: string, work: () => Promise<T>): Promise<T>;
  register(path: string): Promise<RegisteredModel>;
  /** Called when the file becomes available later. */
  onAvailable(): Promise<void>;
  log: Log;
  signal: AbortSignal;
  /** Interval between two searches for a missing file in ms. */
  retryMs?: number;
}

const RETRY_MS = 3_000;

/**
 * The configured file of slot `agent`, as long as it can serve a chat. A file from a setting that is unusable
 * (its disk is mounted after the gateway starts, or it was removed) is reported as a problem and retried
 * until it works. Meanwhile the gateway serves its other models.
 */
export class ConfiguredModelLoader {
  readonly #deps: ConfiguredModelDeps;
  #why: string | null = null;
  #lastFingerprint: string | null = null;
  #inspecting = false;

  constructor(deps: ConfiguredModelDeps) {
    this.#deps = deps;
  }

  /**
   * Inspects the file for the first time. Throws SetupError for a file from the command line, so that the
   * user sees the error.
   */
  async start(): Promise<void> {
    const { named, log, signal, retryMs = RETRY_MS } = this.#deps;
    if (named === null) return;
    const refused = await this.#inspect(named);
    if (refused === null) return;
    const { why, advice } = refused;
    if (named.isCommandLine) throw new SetupError(`${named.origin} names ${named.path}, ${why}.`, advice);
    log.warn(
      { path: named.path, reason: why },
      `${named.origin} names a file that slot agent cannot serve; searching for it`,
    );
    const failed = (err: unknown) =>
      log.warn({ path: named.path, err }, 'the model file of slot agent was not accepted');
    const timer = setInterval(() => this.#retry(named, timer).catch(failed), retryMs);
    timer.unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  model(): RegisteredModel | null {
    const { named, modelAt } = this.#deps;
    const found = named === null ? undefined : modelAt(named.path);
    return found?.type === 'llm' ? found : null;
  }

  problems(): Problem[] {
    const { named } = this.#deps;
    if (named === null || this.#why === null) return [];
    const message = `${named.origin} names ${basename(named.path)}, ${this.#why}; slot agent has another model`;
    return [{ file: named.file, line: null, message }];
  }

  async #inspect({ path }: ConfiguredModel): Promise<{ why: string; advice: string } | null> {
    this.#lastFingerprint = await this.#fingerprint(path);
    this.#inspecting = true;
    const refused = findProblem(await this.#deps.register(path).catch((error: Error) => error));
    this.#inspecting = false;
    this.#why = refused?.why ?? null;
    return refused;
  }

  /** Returns a fingerprint of the file. Null when it is missing or unknown. */
  #fingerprint(path: string): Promise<string | null> {
    return this.#deps
      .runOnDisk(path, () => stat(path))
      .then(
        ({ size, mtimeMs, ctimeMs }) => `${size} ${mtimeMs} ${ctimeMs}`,
        () => null,
      );
  }

  /** Skips a file that was refused and has not changed. */
  async #retry(named: ConfiguredModel, timer: NodeJS.Timeout): Promise<void> {
    const fingerprint = await this.#fingerprint(named.path);
    if (
      fingerprint === null ||
      fingerprint === this.#lastFingerprint ||
      this.#inspecting ||
      this.#deps.signal.aborted
    )
      return;
    if ((await this.#inspect(named)) !== null) return;
    clearInterval(timer);
    this.#deps.log.info({ path: named.path }, `the file that ${named.origin} names was found`);
    await this.#deps.onAvailable();
  }
}
