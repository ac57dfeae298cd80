import { readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SettingRow } from '../contract/system.ts';
import { type FaultHook, sweepTemps } from '../lib/fs/temp-file.ts';
import type { Log } from '../lib/log.ts';
import type { SettingName, SettingValue } from './catalogue.ts';
import { CONFIG_FILE } from './config-text.ts';
import { ENV_FILE } from './env-layer.ts';
import { type Folders, openFolders } from './folders.ts';
import { LiveSettings } from './live-settings.ts';
import type { Resolved } from './precedence.ts';
import type { Problem } from './problem.ts';
import type { ChangeGuard } from './revision.ts';
import { SettingsState } from './state.ts';

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

/**
 * Opens the folders, reads the settings and watches the files. Throws SetupError for a folder that cannot be
 * used.
 */
export async function openSettings(options: SettingsOptions): Promise<Settings> {
  const folders = openFolders(options.env);
  for (const folder of await writtenFolders(folders)) await sweepTemps(folder).catch(() => 0);
  const state = new SettingsState(folders, options.env, options.log);
  await state.start();
  const settings = new LiveSettings(folders, state, options);
  await settings.reload();
  return settings;
}

/**
 * Resolves symbolic links. Returns the path unchanged when the disk fails, because its only use can wait for
 * the next start.
 */
const real = (path: string): Promise<string> => realpath(path).catch(() => path);

/**
 * Returns the folders that are written: both main folders, the subfolders of the first, and those of linked
 * files.
 */
async function writtenFolders({ config, state }: Folders): Promise<Set<string>> {
  const files = [CONFIG_FILE, ENV_FILE].map((name) =>
    realpath(join(config, name)).then(dirname, () => config),
  );
  const [root, ...targets] = await Promise.all([real(config), ...files]);
  const inside = (await readdir(root, { withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(root, name));
  return new Set([
    root,
    state,
    ...inside,
    ...targets.filter((folder) => `${folder}/`.startsWith(`${root}/`)),
  ]);
}
