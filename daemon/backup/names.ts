/** Maximum size of a configuration file in bytes. */
const CONFIG_BYTES = 4 << 20;
/** Maximum size of a database in bytes. */
const DATABASE_BYTES = 2 ** 32;

export const MANIFEST = 'manifest.json';
export const MANIFEST_BYTES = 1 << 20;
/** The file with the keys, unchanged; only in backups with keys. */
export const ENV_MEMBER = 'config/api.env';
/** The non-secret settings of api.env, for a backup without keys. */
export const SETTINGS_MEMBER = 'config/settings.env';
export const COMPANION_MEMBER = 'config/companion.env';
export const CONFIG_MEMBER = 'config/config.toml';
export const DATABASE_MEMBER = 'state/svc.db';
/** Folders of the configuration whose files belong to a backup. */
export const FILE_FOLDERS = ['slots', 'upstreams'] as const;
/** Members that an archive may have. */
export const MAX_MEMBERS = 512;

const FIXED: ReadonlyMap<string, number> = new Map([
  [CONFIG_MEMBER, CONFIG_BYTES],
  [ENV_MEMBER, CONFIG_BYTES],
  [SETTINGS_MEMBER, CONFIG_BYTES],
  [COMPANION_MEMBER, CONFIG_BYTES],
  [DATABASE_MEMBER, DATABASE_BYTES],
]);

const IN_FOLDER = new RegExp(`^config/(${FILE_FOLDERS.join('|')})/[a-z0-9][a-z0-9_-]{0,63}\\.toml$`);

/**
 * Returns the maximum size of a member of this name in bytes, or null for a name that no backup contains.
 * This is the complete list.
 */
export function maxBytesOf(name: string): number | null {
  return FIXED.get(name) ?? (IN_FOLDER.test(name) ? CONFIG_BYTES : null);
}
