/** Largest file of the configuration that is taken up, in bytes. */
const CONFIG_BYTES = 4 << 20;
/** Largest database that is taken up, in bytes. */
const DATABASE_BYTES = 2 ** 32;

export const MANIFEST = 'manifest.json';
export const MANIFEST_BYTES = 1 << 20;
/** The file with the keys, as it is; only with the keys. */
export const ENV_MEMBER = 'config/api.env';
/** What api.env sets beside secrets, where the keys are left out. */
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

/** The most bytes that a member of this name may have; null for a name that no backup holds. THE closed list. */
export function maxBytesOf(name: string): number | null {
  return FIXED.get(name) ?? (IN_FOLDER.test(name) ? CONFIG_BYTES : null);
}
