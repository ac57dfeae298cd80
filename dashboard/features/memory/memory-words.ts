import type { SettingRow } from '../../../daemon/contract/system.ts';

/** Tags as one types them: words behind commas, each once. */
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
}

const WHO = {
  admin: 'Only the admin key reads, adds and deletes memories.',
  client: 'Every holder of the client key may read and add memories; deleting takes the admin key.',
} as const;
/** The same while no key is required. */
const WHO_OPEN = {
  everybody: 'No key is required now: whoever reaches this gateway reads, adds and deletes memories.',
  admin:
    'No key is required on this machine; from others only the admin key reads, adds and deletes memories.',
  client: 'No key is required to read and add memories; from other machines deleting takes the admin key.',
} as const;

/** Who may read, add and delete memories now, in one sentence; null before all that decides it was read. */
export function classSentence(
  settings: readonly SettingRow[] | undefined,
  keysRequired: boolean | undefined,
): string | null {
  const setTo = (toml: string): unknown => settings?.find((row) => row.toml === toml)?.value;
  const of = setTo('security.memory_class');
  if (of === undefined || keysRequired === undefined) return null;
  if (keysRequired) return WHO[of === 'client' ? 'client' : 'admin'];
  if (setTo('security.guard_remote_admin') !== true) return WHO_OPEN.everybody;
  return WHO_OPEN[of === 'client' ? 'client' : 'admin'];
}

/** How a search was made. */
export const MODES = {
  hybrid: { word: 'Words and meaning', text: 'Found by words and by meaning, joined by rank.' },
  words: {
    word: 'Words only',
    text: 'Found by words only: no embedding model was loaded in time. Load slot embed to find by meaning as well.',
  },
} as const;
