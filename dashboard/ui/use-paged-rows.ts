import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { MAX_ROWS, type PagedRows, withNewest, withOlder } from './paged-rows.ts';

/**
 * The rows of a paginated list that grows at its head. `newest` is the live first page, `read` loads the page before a row.
 * Once an older page was requested, all loaded rows are preserved.
 */
export function usePagedRows<Row, Id extends string | number>(options: {
  newest: readonly Row[] | undefined;
  page: number;
  idOf: (row: Row) => Id;
  read: (before: Id) => Promise<readonly Row[]>;
}) {
  const { newest = [], page, idOf } = options;
  const [current, setCurrent] = useState<PagedRows<Row> | null>(null);
  const [merged, setMerged] = useState(options.newest);
  const older = useMutation({
    mutationFn: options.read,
    onSuccess: (rows, before) => setCurrent((was) => was && withOlder(was, before, rows, { idOf, page })),
  });
  // Merge each refresh before the next one moves rows off the page.
  if (merged !== options.newest) {
    setMerged(options.newest);
    setCurrent((was) => (was === null ? null : withNewest(was, newest, { idOf, page })));
  }
  const rows = current?.rows ?? newest;
  const last = rows.at(-1);
  const end = last === undefined || (current?.end ?? newest.length < page);
  const more = (): void => {
    if (last === undefined) return;
    // Start now, so that rows that move off the first page while the older one is loading are preserved.
    setCurrent((was) => was ?? { rows: newest, end: false });
    older.mutate(idOf(last));
  };
  return {
    rows,
    older: { more, error: older.error, busy: older.isPending, end, full: rows.length >= MAX_ROWS },
  };
}
