/** Machine-readable output: one JSON value and a newline. */
export const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Removes control characters other than line feed and tab, so that a text cannot control the terminal. */
export const plain = (text: string): string => text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '');

/** `Name   value` lines, names padded to one width. */
export function fields(values: Readonly<Record<string, string>>): string {
  const width = Math.max(0, ...Object.keys(values).map((name) => name.length));
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(width)}  ${plain(value)}\n`)
    .join('');
}

/** Pads columns to their widest cell, except the last one. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows.map((row) => row.map(plain))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
}

/** Minimum width of a truncated column. */
const MIN_COLUMN_WIDTH = 6;
const GAP = 2;

/**
 * Returns a table that fits `width` columns. Of the columns that may shrink, the widest shrinks first; a
 * truncated cell ends in `…`. Other columns are shown whole, even beyond `width`.
 */
export function fitted(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  { width, shrink }: { width: number; shrink: readonly number[] },
): string {
  const clean = rows.map((row) => row.map(plain));
  const widths = head.map((_, column) =>
    Math.max(...[head, ...clean].map((row) => (row[column] ?? '').length)),
  );
  const total = () => widths.reduce((sum, one) => sum + one + GAP, -GAP);
  while (shrink.length > 0 && total() > width) {
    const widest = shrink.reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a), shrink[0] ?? 0);
    const now = widths[widest] ?? 0;
    if (now <= MIN_COLUMN_WIDTH) break;
    widths[widest] = Math.max(MIN_COLUMN_WIDTH, now - (total() - width));
  }
  const cell = (text: string, column: number) => truncate(text, widths[column] ?? text.length);
  return table(
    head.map(cell),
    clean.map((row) => row.map(cell)),
  );
}

/** Truncates a text to `maxLength` characters; a truncated text ends in `…`. */
export const truncate = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, Math.max(0, maxLength - 1))}…`;
