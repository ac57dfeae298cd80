import { useSearchParams } from 'wouter';

/** Dialogs of the view; the open one is part of the URL. */
export const SHOWS = ['details', 'load', 'remove', 'register', 'pull', 'cancel', 'catalog'] as const;
export type Show = (typeof SHOWS)[number];

export interface OpenDialog {
  show: Show;
  /** Id of a model, name of a model to download, or id of a download. */
  of: string;
}

/** Reads the open dialog from the URL; null when none is open. */
export function openDialogOf(search: URLSearchParams): OpenDialog | null {
  const show = SHOWS.find((name) => name === search.get('show'));
  if (show === undefined) return null;
  const of = search.get('of') ?? '';
  return show === 'register' || show === 'catalog' || of !== '' ? { show, of } : null;
}

/** The open dialog and the hub search of the URL, with functions to change them. */
export function useUrlState() {
  const [search, setSearch] = useSearchParams();
  const q = search.get('q') ?? '';
  const go = (more: Record<string, string>, options?: { replace: boolean }): void =>
    setSearch({ ...(q === '' ? {} : { q }), ...more }, options);
  return {
    place: openDialogOf(search),
    q,
    open: (show: Show, of = '') => go(of === '' ? { show } : { show, of }),
    close: () => go({}),
    find: (words: string) => setSearch(words === '' ? {} : { q: words }),
  };
}
