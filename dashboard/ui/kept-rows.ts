/** Maximum number of rows, so that an open page does not grow without bound. */
export const MOST_KEPT = 4000;

/** A list that grows at its head by new rows and at its end by older pages. */
export interface Kept<Row> {
  readonly rows: readonly Row[];
  /** Whether there are no older rows. */
  readonly end: boolean;
}

/**
 * Merges the newest page into the rows. The page wins for rows that are in both, and rows that have moved off the page stay.
 * When a full page shares no row with the list, rows in between may be missing; the list then restarts from the page.
 */
export function withNewest<Row>(
  kept: Kept<Row>,
  newest: readonly Row[],
  how: { idOf: (row: Row) => string | number; page: number; most?: number },
): Kept<Row> {
  const { idOf, page, most = MOST_KEPT } = how;
  const ids = new Set(newest.map(idOf));
  const rest = kept.rows.filter((row) => !ids.has(idOf(row)));
  if (newest.length >= page && rest.length === kept.rows.length) return { rows: newest, end: false };
  const rows = [...newest, ...rest];
  return rows.length > most ? { rows: rows.slice(0, most), end: false } : { ...kept, rows };
}

/** Appends the page before a row, unless that row is no longer the last one. */
export function withOlder<Row>(
  kept: Kept<Row>,
  before: string | number,
  older: readonly Row[],
  how: { idOf: (row: Row) => string | number; page: number; most?: number },
): Kept<Row> {
  const last = kept.rows.at(-1);
  if (last === undefined || how.idOf(last) !== before) return kept;
  const ids = new Set(kept.rows.map(how.idOf));
  const rows = [...kept.rows, ...older.filter((row) => !ids.has(how.idOf(row)))];
  return { rows: rows.slice(0, how.most ?? MOST_KEPT), end: older.length < how.page };
}
