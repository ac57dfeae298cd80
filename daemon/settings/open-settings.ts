import { readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sweepTemps } from '../lib/fs/temp-file.ts';
import { CONFIG_FILE } from './config-text.ts';
import { ENV_FILE } from './env-layer.ts';
import { type Folders, isWritable, openFolders } from './folders.ts';
import { LiveSettings } from './live-settings.ts';
import type { Settings, SettingsOptions } from './settings.ts';
import { SettingsState } from './state.ts';

const READ_ONLY =
  'the configuration folder is read-only: settings, keys, slots and upstreams cannot be changed through the gateway';

/**
 * Opens the folders, reads the settings and watches the files. Throws SetupError for a folder that cannot be
 * used.
 */
export async function openSettings(options: SettingsOptions): Promise<Settings> {
  const folders = openFolders(options.env);
  if (!isWritable(folders.config)) options.log.info({ event: 'config.read_only' }, READ_ONLY);
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
