import { useSearchParams } from 'wouter';

export const SHOWS = ['new', 'models', 'test', 'edit', 'key', 'remove'] as const;
export type Show = (typeof SHOWS)[number];

/** The open dialog of the URL, with functions to open and close it. */
export function useUpstreamUrlState() {
  const [search, setSearch] = useSearchParams();
  const show = SHOWS.find((name) => name === search.get('show')) ?? null;
  return {
    show,
    name: search.get('upstream') ?? '',
    open: (next: Show, name = '') => setSearch(name === '' ? { show: next } : { upstream: name, show: next }),
    close: () => setSearch({}),
  };
}
