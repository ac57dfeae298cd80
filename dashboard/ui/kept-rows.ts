/** Rows that a list keeps at most, so that an open page does not grow for ever. */
export const MOST_KEPT = 4000;

/** A list that grows at its head while it is read, and at its end by older pages. */
export interface Kept<Row> {
  readonly rows: readonly Row[];
  /** Nothing is before the last row. */
  readonly end: boolean;
}

/**
 * The kept rows with the newest page in front of them: a row of both is as the page has it, and what has slid off the
 * page stays. A full page that no kept row is in has left rows out that nobody has seen; then the page alone is the
 * list, because a list with a hole would not show it.
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

/** The kept rows with the page before one of them behind them, unless that row is not the last one any more. */
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
