import { join } from 'node:path';
import type { SettingRow } from '../contract/system.ts';
import type { FaultHook } from '../lib/fs/temp-file.ts';
import type { Log } from '../lib/log.ts';
import {
  SETTINGS,
  type SettingName,
  type SettingRowDef,
  type SettingValue,
  settingRows,
} from './catalogue.ts';
import { ConfigEditError, setInConfigFile, type TomlValue } from './config-file.ts';
import { CONFIG_FILE, MAX_CONFIG_BYTES, readConfigText } from './config-text.ts';
import { tableOfRest } from './config-values.ts';
import { setRestOfTable } from './edit-config.ts';
import { editFile } from './edit-file.ts';
import { setInEnvFile } from './env-file.ts';
import { ENV_FILE, MAX_ENV_FILE_BYTES } from './env-layer.ts';
import type { Folders } from './folders.ts';
import type { ModelMap } from './model-map.ts';
import type { Resolved } from './precedence.ts';
import type { Problem } from './problem.ts';
import { type FileRead, readFileCapped, sameRead } from './read-file.ts';
import { type ChangeGuard, revisionOf, unguarded } from './revision.ts';
import { isWritableSecret } from './secrets.ts';
import { parseInput } from './setting-types.ts';
import type { Settings, SettingsChange, SettingsOptions } from './settings.ts';
import type { SettingsState } from './state.ts';
import { setTableInConfigFile } from './table-edit.ts';
import { watchFiles } from './watch-files.ts';

/** An emptied or removed file may reappear within this time, because editors write in two steps. */
const REWRITE_GRACE_MS = 300;

interface Reads {
  env: FileRead;
  config: FileRead;
}

/** Reads, watches and writes the two files. SettingsState evaluates them. */
export class LiveSettings implements Settings {
  readonly folders: Folders;
  readonly #state: SettingsState;
  readonly #log: Log;
  readonly #faults: FaultHook | undefined;
  readonly #listeners = new Set<(change: SettingsChange) => void>();
  readonly #unwatch: () => void;
  /** Serialises reads and writes, so that the active state is that of the latest file content. */
  #queue: Promise<unknown> = Promise.resolve();
  #last: Reads = { env: { kind: 'missing' }, config: { kind: 'missing' } };

  constructor(folders: Folders, state: SettingsState, options: SettingsOptions) {
    this.folders = folders;
    this.#state = state;
    this.#log = options.log;
    this.#faults = options.faults;
    const onEvent = () => void this.#serial(() => this.#onFileEvent());
    this.#unwatch =
      options.watch === false ? () => {} : watchFiles(folders.config, [CONFIG_FILE, ENV_FILE], onEvent);
  }

  value<N extends SettingName>(name: N): SettingValue<N> {
    return this.#state.resolved(name).value;
  }

  resolve<N extends SettingName>(name: N): Resolved<SettingValue<N>> {
    return this.#state.resolved(name);
  }

  views = (): SettingRow[] => this.#state.views();
  problems = (): readonly Problem[] => this.#state.problems;
  fatalConfigError = (): Problem | null => this.#state.fatalConfigError;
  secrets = (): readonly string[] => this.#state.secrets;
  environment = (name: string): string | undefined => this.#state.environment(name);

  reload(): Promise<void> {
    return this.#serial(async () => this.#apply(await this.#read()));
  }

  persist<N extends SettingName>(name: N, value: SettingValue<N>): Promise<void> {
    return this.persistAll([[name, value]], unguarded);
  }

  revision(): string {
    const { config } = this.#last;
    return revisionOf(config.kind === 'bytes' ? config.bytes : null);
  }

  async persistAll(values: readonly (readonly [SettingName, unknown])[], guard: ChangeGuard): Promise<void> {
    const changes = values.map(([name, value]) => keyChange(name, value));
    const enforces = changes.some(({ key, value }) => key === SETTINGS.requireAuth.toml && value === true);
    await this.#serial(async () => {
      if (enforces) await this.#state.saveEnforcementAhead();
      try {
        await this.#write('config', (bytes) => {
          guard(bytes);
          return editConfig(bytes, [...this.#retainedChanges(bytes), ...changes]);
        });
      } finally {
        await this.#state.saveLastGood();
      }
    });
  }

  async setEnvFile(name: 'adminKey' | 'clientKey', value: string): Promise<void> {
    const { env: variable, type } = SETTINGS[name];
    const checked = type.fromText(value);
    if (variable === undefined || !checked.ok || checked.value === '') {
      throw new RangeError(`${name} must be printable and not blank`);
    }
    await this.#setVariable(variable, checked.value);
  }

  async setSecret(variable: string, value: string): Promise<void> {
    if (!isWritableSecret(variable) || !SECRET_VALUE.test(value))
      throw new RangeError('the variable or its value cannot be written');
    await this.#setVariable(variable, value);
  }

  #setVariable(variable: string, value: string): Promise<void> {
    return this.#serial(async () => {
      await this.#write('env', (bytes) => setInEnvFile(bytes ?? Buffer.alloc(0), variable, value));
      await this.#state.saveLastGood();
    });
  }

  onChange(listener: (change: SettingsChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#unwatch();
    this.#listeners.clear();
  }

  #serial<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  /** Keys that a write must add. They come first, so that a change of the same key wins. */
  #retainedChanges(config: Buffer | null): KeyChange[] {
    return [...this.#state.retainedValues(config)].map(([key, value]) => ({
      key,
      value: value as TomlValue,
    }));
  }

  #path(name: string): string {
    return join(this.folders.config, name);
  }

  async #read(): Promise<Reads> {
    const [env, config] = await Promise.all([
      readFileCapped(this.#path(ENV_FILE), MAX_ENV_FILE_BYTES),
      readFileCapped(this.#path(CONFIG_FILE), MAX_CONFIG_BYTES),
    ]);
    return { env, config };
  }

  async #apply(reads: Reads): Promise<void> {
    this.#last = reads;
    this.#state.apply(reads);
    await this.#state.saveLastGood();
    this.#emit(this.#state.broken ? 'broken' : 'reloaded');
  }

  /** Handles a file event. Ignores events without a change of content, including those of own writes. */
  async #onFileEvent(): Promise<void> {
    let reads = await this.#read();
    if (wasEmptied(this.#last.env, reads.env) || wasEmptied(this.#last.config, reads.config)) {
      await new Promise((resolve) => setTimeout(resolve, REWRITE_GRACE_MS).unref());
      reads = await this.#read();
    }
    if (sameRead(reads.env, this.#last.env) && sameRead(reads.config, this.#last.config)) return;
    await this.#apply(reads);
  }

  async #write(which: keyof Reads, edit: (bytes: Buffer | null) => Buffer): Promise<void> {
    const path = this.#path(which === 'env' ? ENV_FILE : CONFIG_FILE);
    const rules = which === 'env' ? ENV_RULES : CONFIG_RULES;
    const { bytes, durable } = await editFile(path, edit, {
      ...rules,
      within: this.folders.config,
      faults: this.#faults,
    });
    if (!durable) this.#log.warn(`${path} is written, but the folder could not be flushed to the device`);
    const after = await readFileCapped(path, rules.maxBytes);
    const access =
      after.kind === 'bytes'
        ? { mode: after.mode, uid: after.uid }
        : { mode: rules.newMode, uid: process.geteuid?.() ?? 0 };
    this.#last = { ...this.#last, [which]: { kind: 'bytes', bytes, ...access } };
    this.#state.apply(this.#last);
    this.#emit('written');
  }

  #emit(change: SettingsChange): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(change);
      } catch (error) {
        this.#log.error({ err: error }, 'a listener of the settings failed');
      }
    }
  }
}

/** Printable ASCII without blanks at its ends, which readers of the file remove. */
const SECRET_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const ENV_RULES = { maxBytes: MAX_ENV_FILE_BYTES, newMode: 0o600, keepMode: 0o600, sameOwner: true };
const CONFIG_RULES = { maxBytes: MAX_CONFIG_BYTES, newMode: 0o600, keepMode: 0o666 };

function wasEmptied(before: FileRead, now: FileRead): boolean {
  const size = (read: FileRead) => (read.kind === 'bytes' ? read.bytes.length : 0);
  return size(before) > 0 && size(now) === 0;
}

interface KeyChange {
  /** `table.key`, `table.*`, or the name of a whole table. */
  readonly key: string;
  readonly value: TomlValue;
}

/** Throws RangeError for a setting without a key, or for an invalid value. */
function keyChange(name: SettingName, value: unknown): KeyChange {
  const { toml, type } = SETTINGS[name] as SettingRowDef<unknown>;
  if (toml === undefined) throw new RangeError(`${name} has no key in ${CONFIG_FILE}`);
  const checked = parseInput(type, value);
  if (!checked.ok) throw new RangeError(`${toml} ${checked.reason}`);
  return { key: toml, value: checked.value as TomlValue };
}

function editConfig(bytes: Buffer | null, changes: readonly KeyChange[]): Buffer {
  const read = readConfigText(bytes ?? Buffer.alloc(0));
  if (!read.ok) {
    const line = read.line === null ? '' : ` (line ${read.line})`;
    throw new ConfigEditError(`${CONFIG_FILE} ${read.message}${line}; correct it first`);
  }
  return Buffer.from(changes.reduce(withChange, read.text), 'utf8');
}

function withChange(text: string, { key, value }: KeyChange): string {
  if (tableOfRest(key) !== null) return setRestOfTable(text, key, value as ModelMap);
  if (key.includes('.')) return setInConfigFile(text, key, value);
  const type = settingRows().find(({ toml }) => toml === key)?.type;
  const normalise = (entries: unknown) => {
    const read = type?.fromToml(entries);
    return (read?.ok ? read.value : {}) as Readonly<Record<string, TomlValue>>;
  };
  return setTableInConfigFile(text, key, value as Readonly<Record<string, TomlValue>>, normalise);
}
