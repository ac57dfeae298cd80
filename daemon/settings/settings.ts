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
  /** The effective value now; never keep it beyond the request or act at hand. */
  value<N extends SettingName>(name: N): SettingValue<N>;
  /** The effective value with where it came from. */
  resolve<N extends SettingName>(name: N): Resolved<SettingValue<N>>;
  /** The rows of `GET /api/settings`; a secret never shows its value. */
  views(): SettingRow[];
  /** What is wrong with the files and the environment, each with what to do. */
  problems(): readonly Problem[];
  /** Why config.toml can't be read, when there is no last good copy to go on with either; null in every other case. */
  fatalConfigError(): Problem | null;
  /** Any variable by name, api.env before the inherited one; undefined when unset or blank. */
  environment(name: string): string | undefined;
  /** Values that must never be logged. */
  secrets(): readonly string[];
  /**
   * Writes one value into config.toml and takes it up; all other bytes stay. A file that vanished or was emptied is made
   * with what still counted of it: enforcement that was on is not lost by another setting. Throws RangeError for a value the
   * setting does not take, ConfigEditError for a file that must be corrected first, FileWriteError otherwise;
   * after any of them nothing has changed.
   */
  persist<N extends SettingName>(name: N, value: SettingValue<N>): Promise<void>;
  /**
   * The same for several values at once: all of them or none. `guard` sees the content of the file right before; what it throws
   * passes through and nothing has changed.
   */
  persistAll(values: readonly (readonly [SettingName, unknown])[], guard: ChangeGuard): Promise<void>;
  /** Of config.toml as the present values were read from it. */
  revision(): string;
  /** Writes a key into api.env and takes it up; all other bytes stay. Throws like `persist`, and EnvFileError. */
  setEnvFile(name: 'adminKey' | 'clientKey', value: string): Promise<void>;
  /** Reads both files anew. Never throws: a file that can't be read is a problem, its last good values stay. */
  reload(): Promise<void>;
  /** Calls `listener` after every change; the answer unsubscribes. */
  onChange(listener: (change: SettingsChange) => void): () => void;
  close(): void;
}

export interface SettingsOptions {
  env: Readonly<Record<string, string | undefined>>;
  log: Log;
  /** Follow changes of the files; default true. */
  watch?: boolean;
  faults?: FaultHook;
}

/** Opens folders and files and reads the settings. Throws SetupError for a folder that can't be used. */
export async function openSettings(options: SettingsOptions): Promise<Settings> {
  const folders = openFolders(options.env);
  for (const folder of await writtenFolders(folders)) await sweepTemps(folder).catch(() => 0);
  const state = new SettingsState(folders, options.env, options.log);
  await state.start();
  const settings = new LiveSettings(folders, state, options);
  await settings.reload();
  return settings;
}

/** A path without its links; as it stands where the disk doesn't tell, because what it is for can wait for the next start. */
const real = (path: string): Promise<string> => realpath(path).catch(() => path);

/** Both folders, those for slots and the like in the first, and those into which the files are written through a link. */
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
