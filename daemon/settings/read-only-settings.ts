import { join } from 'node:path';
import type { SettingRow } from '../contract/system.ts';
import { silentLog } from '../lib/log.ts';
import type { SettingName, SettingValue } from './catalogue.ts';
import { CONFIG_FILE, MAX_CONFIG_BYTES } from './config-text.ts';
import { ENV_FILE, MAX_ENV_FILE_BYTES } from './env-layer.ts';
import { type Folders, folderPaths } from './folders.ts';
import type { Resolved } from './precedence.ts';
import type { Problem } from './problem.ts';
import { readFileCapped } from './read-file.ts';
import { SettingsState } from './state.ts';

/** The settings that a start would find now. */
export interface ReadOnlySettings {
  readonly folders: Folders;
  value<N extends SettingName>(name: N): SettingValue<N>;
  resolve<N extends SettingName>(name: N): Resolved<SettingValue<N>>;
  environment(name: string): string | undefined;
  /** The rows of `GET /api/settings`. The value of a secret is never shown. */
  views(): SettingRow[];
  problems(): readonly Problem[];
  /** Paths of config.toml and api.env that this user may not read. Their values are missing. */
  denied(): readonly string[];
  /** Why config.toml cannot be read, if there is no last good copy either. */
  fatalConfigError(): Problem | null;
  secrets(): readonly string[];
}

/**
 * Reads the settings and writes nothing, even if folders are missing. Throws SetupError when no variable
 * names a folder.
 */
export async function loadSettingsReadOnly(
  env: Readonly<Record<string, string | undefined>>,
): Promise<ReadOnlySettings> {
  const folders = folderPaths(env);
  const state = new SettingsState(folders, env, silentLog());
  await state.start();
  const [apiEnv, config] = await Promise.all([
    readFileCapped(join(folders.config, ENV_FILE), MAX_ENV_FILE_BYTES),
    readFileCapped(join(folders.config, CONFIG_FILE), MAX_CONFIG_BYTES),
  ]);
  state.apply({ env: apiEnv, config });
  const denied = [
    { name: CONFIG_FILE, read: config },
    { name: ENV_FILE, read: apiEnv },
  ].filter(({ read }) => read.kind === 'unreadable' && read.denied);
  return {
    folders,
    value: (name) => state.resolved(name).value,
    resolve: (name) => state.resolved(name),
    environment: (name) => state.environment(name),
    views: () => state.views(),
    problems: () => state.problems,
    denied: () => denied.map(({ name }) => join(folders.config, name)),
    fatalConfigError: () => state.fatalConfigError,
    secrets: () => state.secrets,
  };
}
