import { useSearchParams } from 'wouter';

/** What is open over the lists; it stands in the address. */
export const SHOWS = ['details', 'load', 'remove', 'register', 'pull', 'cancel'] as const;
export type Show = (typeof SHOWS)[number];

export interface Place {
  show: Show;
  /** Id of a model, name of what is to be pulled, or id of a pull. */
  of: string;
}

/** The place of the address; null where nothing is open. */
export function placeOf(search: URLSearchParams): Place | null {
  const show = SHOWS.find((name) => name === search.get('show'));
  if (show === undefined) return null;
  const of = search.get('of') ?? '';
  return show === 'register' || of !== '' ? { show, of } : null;
}

/** The place, the words that the hub is searched by, and the ways to change them. */
export function usePlace() {
  const [search, setSearch] = useSearchParams();
  const q = search.get('q') ?? '';
  const go = (more: Record<string, string>, options?: { replace: boolean }): void =>
    setSearch({ ...(q === '' ? {} : { q }), ...more }, options);
  return {
    place: placeOf(search),
    q,
    open: (show: Show, of = '') => go(of === '' ? { show } : { show, of }),
    close: () => go({}),
    find: (words: string) => setSearch(words === '' ? {} : { q: words }),
  };
}
