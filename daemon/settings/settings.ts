import type { SettingRow } from '../contract/system.ts';
import type { FaultHook } from '../lib/fs/temp-file.ts';
import type { Log } from '../lib/log.ts';
import type { SettingName, SettingValue } from './catalogue.ts';
import type { Folders } from './folders.ts';
import type { Resolved } from './precedence.ts';
import type { Problem } from './problem.ts';
import type { ChangeGuard } from './revision.ts';

export type SettingsChange = 'reloaded' | 'broken' | 'written';

/**
 * The live settings of the process (docs/spec/specification.md#environment-variables,
 * docs/spec/contract.md#settings).
 */
export interface Settings {
  readonly folders: Folders;
  /** Returns the current effective value. Do not store it beyond the current request or operation. */
  value<N extends SettingName>(name: N): SettingValue<N>;
  /** Returns the effective value with its source. */
  resolve<N extends SettingName>(name: N): Resolved<SettingValue<N>>;
  /** The rows of `GET /api/settings`. The value of a secret is never shown. */
  views(): SettingRow[];
  /** Problems of the files and the environment, each with the next step. */
  problems(): readonly Problem[];
  /** Why config.toml cannot be read if there is no last good copy either. Null in every other case. */
  fatalConfigError(): Problem | null;
  /** Returns any variable by name, api.env before the inherited one. Undefined when unset or blank. */
  environment(name: string): string | undefined;
  /** Values that must never be logged. */
  secrets(): readonly string[];
  /**
   * Writes one value into config.toml and applies it. All other bytes are preserved. A file that vanished or
   * was emptied is created with the values that are still in force, so that changing another setting does not
   * lose enforcement. Throws RangeError for an invalid value, ConfigEditError for a file that must be
   * corrected first, and FileWriteError. After any of them nothing has changed.
   */
  persist<N extends SettingName>(name: N, value: SettingValue<N>): Promise<void>;
  /**
   * Writes several values at once: all or none. `guard` receives the content of the file right before the
   * write. If it throws, nothing has changed and the error is rethrown.
   */
  persistAll(values: readonly (readonly [SettingName, unknown])[], guard: ChangeGuard): Promise<void>;
  /** Revision of config.toml from which the current values were read. */
  revision(): string;
  /**
   * Writes a key into api.env and applies it. All other bytes are preserved. Throws like `persist`, and
   * EnvFileError.
   */
  setEnvFile(name: 'adminKey' | 'clientKey', value: string): Promise<void>;
  /**
   * Writes a variable of `isWritableSecret` into api.env and applies it, like `setEnvFile`. No call returns the value
   * (docs/spec/contract.md#write-only-secrets).
   */
  setSecret(variable: string, value: string): Promise<void>;
  /**
   * Reads both files again. Never throws: an unreadable file is a problem, and its last good values stay in
   * force.
   */
  reload(): Promise<void>;
  /** Calls `listener` after every change. Returns a function that unsubscribes. */
  onChange(listener: (change: SettingsChange) => void): () => void;
  close(): void;
}

export interface SettingsOptions {
  env: Readonly<Record<string, string | undefined>>;
  log: Log;
  /** Whether to watch the files. Default: true. */
  watch?: boolean;
  faults?: FaultHook;
}
