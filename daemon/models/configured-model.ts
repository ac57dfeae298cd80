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
  typed: boolean;
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
    typed: override !== null,
    explicit: override !== null || source === 'env',
  };
}

/** What is wrong with the configured file; null when it can serve a chat. `found` is the model, or why there is none. */
function objection(found: RegisteredModel | Error): { why: string; advice: string } | null {
  if (found instanceof Error) {
    const advice = 'Give the path of a whole .gguf chat model, or leave the setting out.';
    return { why: `which can't be used: ${found.message}`, advice };
  }
  if (found.type === 'llm') return null;
  const advice = 'Slot agent needs a chat model; put other models into a folder of models.folders.';
  return { why: `which is no chat model (its type is ${found.type})`, advice };
}

export interface ConfiguredOptions {
  named: ConfiguredModel | null;
  /** The model at a path that is known. */
  modelAt(path: string): RegisteredModel | undefined;
  /** Asks the disk of a path, which may not answer; rejects then. */
  ask<T>(path: string, look: () => Promise<T>): Promise<T>;
  register(path: string): Promise<RegisteredModel>;
  /** Called once it is here after all. */
  arrived(): Promise<void>;
  log: Log;
  signal: AbortSignal;
  /** Between two looks for a file that was not there (ms). */
  againMs?: number;
}

const AGAIN_MS = 3_000;

/**
 * The file that was named for slot `agent`, as long as it can serve a chat. One that a setting names and that can't (its disk comes
 * later than the gateway, it was removed) is a problem, and is looked for until it can: the gateway serves what else it has meanwhile.
 */
export class Configured {
  readonly #options: ConfiguredOptions;
  #why: string | null = null;
  #seen: string | null = null;
  #looking = false;

  constructor(options: ConfiguredOptions) {
    this.#options = options;
  }

  /** The first look. Throws SetupError for a file that the command line names: whoever typed it sees the slip. */
  async start(): Promise<void> {
    const { named, log, signal, againMs = AGAIN_MS } = this.#options;
    if (named === null) return;
    const refused = await this.#look(named);
    if (refused === null) return;
    const { why, advice } = refused;
    if (named.typed) throw new SetupError(`${named.origin} names ${named.path}, ${why}.`, advice);
    log.warn(
      { path: named.path, reason: why },
      `${named.origin} names a file that slot agent can not serve; it is looked for`,
    );
    const failed = (err: unknown) =>
      log.warn({ path: named.path, err }, 'the file of slot agent was not taken');
    const timer = setInterval(() => this.#again(named, timer).catch(failed), againMs);
    timer.unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  model(): RegisteredModel | null {
    const { named, modelAt } = this.#options;
    const found = named === null ? undefined : modelAt(named.path);
    return found?.type === 'llm' ? found : null;
  }

  problems(): Problem[] {
    const { named } = this.#options;
    if (named === null || this.#why === null) return [];
    const message = `${named.origin} names ${basename(named.path)}, ${this.#why}; slot agent has another model`;
    return [{ file: named.file, line: null, message }];
  }

  async #look({ path }: ConfiguredModel): Promise<{ why: string; advice: string } | null> {
    this.#seen = await this.#sight(path);
    this.#looking = true;
    const refused = objection(await this.#options.register(path).catch((error: Error) => error));
    this.#looking = false;
    this.#why = refused?.why ?? null;
    return refused;
  }

  /** Tells whether a file is another one than at the last look; null when it is not there, and when nobody can say. */
  #sight(path: string): Promise<string | null> {
    return this.#options
      .ask(path, () => stat(path))
      .then(
        ({ size, mtimeMs, ctimeMs }) => `${size} ${mtimeMs} ${ctimeMs}`,
        () => null,
      );
  }

  /** A file that is as it was refused is not read again. */
  async #again(named: ConfiguredModel, timer: NodeJS.Timeout): Promise<void> {
    const seen = await this.#sight(named.path);
    if (seen === null || seen === this.#seen || this.#looking || this.#options.signal.aborted) return;
    if ((await this.#look(named)) !== null) return;
    clearInterval(timer);
    this.#options.log.info({ path: named.path }, `the file that ${named.origin} names is here`);
    await this.#options.arrived();
  }
}
