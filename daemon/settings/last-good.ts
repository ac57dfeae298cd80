import { join } from 'node:path';
import { replaceFile } from '../lib/fs/atomic-file.ts';
import type { Log } from '../lib/log.ts';
import { readFileCapped } from './read-file.ts';
import { acceptedValues, LAST_GOOD_FILE } from './retained-values.ts';

const ENFORCEMENT_FILE = 'enforcement.json';
const MAX_FILE_BYTES = 1 << 20;

/** State for a later start at which the configuration cannot be read. */
export interface SavedState {
  /** Accepted values of config.toml by `table.key`. Null when none was ever read. */
  lastGood: ReadonlyMap<string, unknown> | null;
  /** Whether config.toml had enforcement on. */
  config: boolean;
  /** Whether api.env had it on. */
  apiEnv: boolean;
}

/**
 * Stores the last good configuration in the state folder: its values, and in a separate file whether
 * enforcement was on. A damaged enforcement file counts as on.
 */
export class LastGood {
  readonly #folder: string;
  readonly #log: Log;
  readonly #written = new Map<string, string>();
  failed = false;

  constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  async load(): Promise<SavedState> {
    const values = await this.#read(LAST_GOOD_FILE);
    const enforcement = await this.#read(ENFORCEMENT_FILE);
    const on = (name: string): boolean =>
      enforcement !== null && (enforcement === 'damaged' || enforcement[name] !== false);
    return {
      lastGood: values === null || values === 'damaged' ? null : acceptedValues(values),
      config: on('config'),
      apiEnv: on('api_env'),
    };
  }

  /** Writes changed files. Never throws: a full disk loses this state, but the service continues. */
  async save(saved: SavedState): Promise<void> {
    this.failed = false;
    await this.#write(ENFORCEMENT_FILE, { config: saved.config, api_env: saved.apiEnv });
    if (saved.lastGood !== null) {
      await this.#write(LAST_GOOD_FILE, Object.fromEntries(saved.lastGood));
    }
  }

  async #read(name: string): Promise<Record<string, unknown> | 'damaged' | null> {
    const read = await readFileCapped(join(this.#folder, name), MAX_FILE_BYTES);
    if (read.kind === 'missing') return null;
    if (read.kind === 'unreadable') return 'damaged';
    try {
      const text = read.bytes.toString('utf8');
      const value: unknown = JSON.parse(text);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'damaged';
      this.#written.set(name, text);
      return value as Record<string, unknown>;
    } catch {
      return 'damaged';
    }
  }

  async #write(name: string, value: unknown): Promise<void> {
    const text = `${JSON.stringify(value)}\n`;
    if (this.#written.get(name) === text) return;
    try {
      await replaceFile(join(this.#folder, name), Buffer.from(text), { mode: 0o600 });
      this.#written.set(name, text);
    } catch (error) {
      this.failed = true;
      this.#log.warn({ err: error }, `${name} in the state folder could not be written`);
    }
  }
}
