import { useSearchParams } from 'wouter';

/** Dialogs of the view; the open one is part of the URL. */
export const SHOWS = [
  'new',
  'load',
  'unload',
  'restart',
  'swap',
  'plan',
  'log',
  'edit',
  'workflow',
  'delete',
] as const;
export type Show = (typeof SHOWS)[number];

export interface OpenDialog {
  slot: string;
  show: Show;
}

/** Reads the open dialog from the URL; null when none is open. */
export function openDialogOf(search: URLSearchParams): OpenDialog | null {
  const show = SHOWS.find((name) => name === search.get('show'));
  if (show === undefined) return null;
  const slot = search.get('slot') ?? '';
  return show === 'new' || slot !== '' ? { slot, show } : null;
}

/** The open dialog of the URL, with functions to open and close it. */
export function useUrlState() {
  const [search, setSearch] = useSearchParams();
  return {
    place: openDialogOf(search),
    /** The slot that the URL names, also without a dialog. */
    current: search.get('slot'),
    open: (show: Show, slot = '') => setSearch(slot === '' ? { show } : { slot, show }),
    close: () => setSearch({}),
  };
}
