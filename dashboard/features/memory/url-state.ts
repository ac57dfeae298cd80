import { useSearchParams } from 'wouter';

const SHOWS = ['add', 'delete', 'all'] as const;
type Show = (typeof SHOWS)[number];

/** The search and the open dialog of the URL, with functions to change them. */
export function useUrlState() {
  const [search, setSearch] = useSearchParams();
  const q = search.get('q') ?? '';
  const words: Record<string, string> = q === '' ? {} : { q };
  return {
    q,
    show: SHOWS.find((name) => name === search.get('show')) ?? null,
    find: (next: string) => setSearch(next === '' ? {} : { q: next }),
    open: (show: Show) => setSearch({ ...words, show }),
    close: () => setSearch(words),
  };
}
