import stringWidth from 'string-width';
import { plain } from './output.ts';

/** Returns a text with spaces up to a width in columns. */
const padded = (text: string, width: number): string =>
  `${text}${' '.repeat(Math.max(0, width - stringWidth(text)))}`;

/** `Name   value` lines, names padded to one width. */
export function fields(values: Readonly<Record<string, string>>): string {
  const width = Math.max(0, ...Object.keys(values).map((name) => stringWidth(name)));
  return Object.entries(values)
    .map(([name, value]) => `${padded(name, width)}  ${plain(value)}\n`)
    .join('');
}

/** Returns the width of the widest cell of each column. */
const columnWidths = (head: readonly string[], rows: readonly (readonly string[])[]): number[] =>
  head.map((_, column) => Math.max(...[head, ...rows].map((row) => stringWidth(row[column] ?? ''))));

/** Pads columns to their widest cell, except the last one. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const clean = rows.map((row) => row.map(plain));
  const widths = columnWidths(head, clean);
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : padded(cell, widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return `${[head, ...clean].map(line).join('\n')}\n`;
}

/** Minimum width of a truncated column. */
const MIN_COLUMN_WIDTH = 6;
const GAP = 2;

/**
 * Returns a table that fits `width` columns. Of the columns in `shrink`, the widest shrinks first; those in
 * `shrinkLast`, such as ids, only when all others are at their minimum. A truncated cell ends in `…`. Other
 * columns are shown whole, even beyond `width`.
 */
export function fitted(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  {
    width,
    shrink,
    shrinkLast = [],
  }: { width: number; shrink: readonly number[]; shrinkLast?: readonly number[] },
): string {
  const clean = rows.map((row) => row.map(plain));
  const widths = columnWidths(head, clean);
  const total = () => widths.reduce((sum, one) => sum + one + GAP, -GAP);
  // A heading is not truncated.
  const minimum = (column: number) => Math.max(MIN_COLUMN_WIDTH, stringWidth(head[column] ?? ''));
  for (const columns of [shrink, shrinkLast]) {
    while (total() > width) {
      const wide = columns.filter((column) => (widths[column] ?? 0) > minimum(column));
      if (wide.length === 0) break;
      const widest = wide.reduce((a, b) => ((widths[b] ?? 0) > (widths[a] ?? 0) ? b : a));
      widths[widest] = Math.max(minimum(widest), (widths[widest] ?? 0) - (total() - width));
    }
  }
  const cell = (text: string, column: number) => truncate(text, widths[column] ?? stringWidth(text));
  return table(
    head.map(cell),
    clean.map((row) => row.map(cell)),
  );
}

const GRAPHEMES = new Intl.Segmenter();

/** Truncates a text to a width in columns; a truncated text ends in `…`. */
export function truncate(text: string, maxWidth: number): string {
  if (stringWidth(text) <= maxWidth) return text;
  let shown = '';
  let width = 1;
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += stringWidth(segment);
    if (width > maxWidth) break;
    shown += segment;
  }
  return `${shown}…`;
}
