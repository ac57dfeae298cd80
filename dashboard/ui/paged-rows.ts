/** Maximum number of rows, so that an open page does not grow without bound. */
export const MAX_ROWS = 4000;

/** A list that grows at its head by new rows and at its end by older pages. */
export interface PagedRows<Row> {
  readonly rows: readonly Row[];
  /** Whether there are no older rows. */
  readonly end: boolean;
}

/**
 * Merges the newest page into the rows. The page wins for rows that are in both, and rows that have moved off the page stay.
 * When a full page shares no row with the list, rows in between may be missing; the list then restarts from the page.
 */
export function withNewest<Row>(
  current: PagedRows<Row>,
  newest: readonly Row[],
  options: { idOf: (row: Row) => string | number; page: number; max?: number },
): PagedRows<Row> {
  const { idOf, page, max = MAX_ROWS } = options;
  const ids = new Set(newest.map(idOf));
  const rest = current.rows.filter((row) => !ids.has(idOf(row)));
  if (newest.length >= page && rest.length === current.rows.length) return { rows: newest, end: false };
  const rows = [...newest, ...rest];
  return rows.length > max ? { rows: rows.slice(0, max), end: false } : { ...current, rows };
}

/** Appends the page before a row, unless that row is no longer the last one. */
export function withOlder<Row>(
  current: PagedRows<Row>,
  before: string | number,
  older: readonly Row[],
  options: { idOf: (row: Row) => string | number; page: number; max?: number },
): PagedRows<Row> {
  const last = current.rows.at(-1);
  if (last === undefined || options.idOf(last) !== before) return current;
  const ids = new Set(current.rows.map(options.idOf));
  const rows = [...current.rows, ...older.filter((row) => !ids.has(options.idOf(row)))];
  return { rows: rows.slice(0, options.max ?? MAX_ROWS), end: older.length < options.page };
}
