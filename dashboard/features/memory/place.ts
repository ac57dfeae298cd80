import { useSearchParams } from 'wouter';

const SHOWS = ['add', 'delete', 'all'] as const;
type Show = (typeof SHOWS)[number];

/** Words that are looked for and what is open over the list; both stand in the address. */
export function usePlace() {
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
