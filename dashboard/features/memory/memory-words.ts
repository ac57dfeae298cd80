import type { SettingRow } from '../../../daemon/contract/system.ts';

/** Tags as one types them: words behind commas, each once. */
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(',').map((tag) => tag.trim()))].filter((tag) => tag !== '');
}

/** Who may read and add memories, in one sentence; null before the settings were read. */
export function classSentence(settings: readonly SettingRow[] | undefined): string | null {
  const row = settings?.find(({ toml }) => toml === 'security.memory_class');
  if (row === undefined) return null;
  return row.value === 'client'
    ? 'Every holder of the client key may read and add memories; deleting takes the admin key.'
    : 'Only the admin key reads, adds and deletes memories.';
}

/** How a search was made. */
export const MODES = {
  hybrid: { word: 'Words and meaning', text: 'Found by words and by meaning, joined by rank.' },
  words: {
    word: 'Words only',
    text: 'Found by words only: no embedding model was loaded in time. Load slot embed to find by meaning as well.',
  },
} as const;
