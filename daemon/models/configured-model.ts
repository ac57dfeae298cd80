import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Log } from '../lib/log.ts';
import { SetupError } from '../lib/setup-error.ts';
import { CONFIG_FILE } from '../settings/config-text.ts';
import type { Problem } from '../settings/problem.ts';
import type { Settings } from '../settings/settings.ts';
import type { RegisteredModel } from './registered-model.ts';
import { splitParts } from './split-files.ts';

/** The file that the operator named for slot `agent`. */
export interface ConfiguredModel {
  /** Absolute; the first part of a split model. */
  path: string;
  /** Where it was named, for messages. */
  origin: string;
  /** The file of the setting, for problems. */
  file: string;
  /** True for the command line. */
  isCommandLine: boolean;
  /** True for the command line and the environment, which stand above every file. */
  explicit: boolean;
}

const ORIGINS = { env: 'SVC_MODEL', file: 'models.agent in config.toml', default: '' } as const;

/** What `--model` names, else SVC_MODEL or `models.agent`; null when nothing is named. */
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

/** What is wrong with the configured file; null when it can serve a chat. `found` is the model, or why there is none. */
function findProblem(found: RegisteredModel | Error): { why: string; advice: string } | null {
  if (found instanceof Error) {
    const advice = 'Give the path of a whole .gguf chat model, or leave the setting out.';
    return { why: `which can't be used: ${found.message}`, advice };
  }
  if (found.type === 'llm') return null;
  const advice = 'Slot agent needs a chat model; put other models into a folder of models.folders.';
  return { why: `which is no chat model (its type is ${found.type})`, advice };
}

export interface ConfiguredModelDeps {
  named: ConfiguredModel | null;
  /** The model at a path that is known. */
  modelAt(path: string): RegisteredModel | undefined;
  /** Asks the disk of a path, which may not answer; rejects then. */
  runOnDisk<T>(path: string, work: () => Promise<T>): Promise<T>;
  register(path: string): Promise<RegisteredModel>;
  /** Called once it is here after all. */
  onAvailable(): Promise<void>;
  log: Log;
  signal: AbortSignal;
  /** Between two looks for a file that was not there (ms). */
  retryMs?: number;
}

const RETRY_MS = 3_000;

/**
 * The file that was named for slot `agent`, as long as it can serve a chat. One that a setting names and that can't (its disk comes
 * later than the gateway, it was removed) is a problem, and is looked for until it can: the gateway serves what else it has meanwhile.
 */
export class ConfiguredModelLoader {
  readonly #deps: ConfiguredModelDeps;
  #why: string | null = null;
  #lastFingerprint: string | null = null;
  #inspecting = false;

  constructor(deps: ConfiguredModelDeps) {
    this.#deps = deps;
  }

  /** The first look. Throws SetupError for a file that the command line names: whoever typed it sees the slip. */
  async start(): Promise<void> {
    const { named, log, signal, retryMs = RETRY_MS } = this.#deps;
    if (named === null) return;
    const refused = await this.#inspect(named);
    if (refused === null) return;
    const { why, advice } = refused;
    if (named.isCommandLine) throw new SetupError(`${named.origin} names ${named.path}, ${why}.`, advice);
    log.warn(
      { path: named.path, reason: why },
      `${named.origin} names a file that slot agent can not serve; it is looked for`,
    );
    const failed = (err: unknown) =>
      log.warn({ path: named.path, err }, 'the file of slot agent was not taken');
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

  /** Tells whether a file is another one than at the last look; null when it is not there, and when nobody can say. */
  #fingerprint(path: string): Promise<string | null> {
    return this.#deps
      .runOnDisk(path, () => stat(path))
      .then(
        ({ size, mtimeMs, ctimeMs }) => `${size} ${mtimeMs} ${ctimeMs}`,
        () => null,
      );
  }

  /** A file that is as it was refused is not read again. */
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
    this.#deps.log.info({ path: named.path }, `the file that ${named.origin} names is here`);
    await this.#deps.onAvailable();
  }
}
