import { useSearchParams } from 'wouter';

/** What is open over the list; it stands in the address. */
export const SHOWS = ['new', 'load', 'unload', 'restart', 'swap', 'plan', 'log', 'edit', 'delete'] as const;
export type Show = (typeof SHOWS)[number];

export interface Place {
  slot: string;
  show: Show;
}

/** The place of the address; null where nothing is open. */
export function placeOf(search: URLSearchParams): Place | null {
  const show = SHOWS.find((name) => name === search.get('show'));
  if (show === undefined) return null;
  const slot = search.get('slot') ?? '';
  return show === 'new' || slot !== '' ? { slot, show } : null;
}

/** The place, and the ways to open and to close it. */
export function usePlace() {
  const [search, setSearch] = useSearchParams();
  return {
    place: placeOf(search),
    open: (show: Show, slot = '') => setSearch(slot === '' ? { show } : { slot, show }),
    close: () => setSearch({}),
  };
}
