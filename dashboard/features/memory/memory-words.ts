import type { SettingRow } from '../../../daemon/contract/system.ts';

/** Parses comma-separated tags; drops duplicates. */
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
}

const WHO = {
  admin: 'Reading, adding and deleting notes needs the admin key.',
  client: 'Reading and adding notes needs the client key; deleting needs the admin key.',
} as const;
/** The sentences while no key is required. */
const WHO_OPEN = {
  everyone: 'No key is required: anyone who can connect can read, add and delete notes.',
  admin: 'No key is required on this machine. Other machines need the admin key.',
  client: 'No key is required to read and add notes. Deleting from other machines needs the admin key.',
} as const;

/** Describes who can read, add and delete notes; null until the settings are loaded. */
export function classSentence(
  settings: readonly SettingRow[] | undefined,
  keysRequired: boolean | undefined,
): string | null {
  const setTo = (toml: string): unknown => settings?.find((row) => row.toml === toml)?.value;
  const of = setTo('security.memory_class');
  if (of === undefined || keysRequired === undefined) return null;
  if (keysRequired) return WHO[of === 'client' ? 'client' : 'admin'];
  if (setTo('security.guard_remote_admin') !== true) return WHO_OPEN.everyone;
  return WHO_OPEN[of === 'client' ? 'client' : 'admin'];
}

/** Search modes. */
export const MODES = {
  hybrid: { word: 'Keyword and semantic', text: 'Combines keyword and semantic search results by rank.' },
  words: {
    word: 'Keyword only',
    text: 'Keyword search only: no embedding model was loaded in time. Load slot embed for semantic search.',
  },
} as const;
