/** Machine-readable output: one JSON value and a newline. */
export const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

/** Text for a terminal: control characters other than line feed and tab are left out, so that no text steers it. */
export const plain = (text: string): string => text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, '');

/** `Name   value` lines, names padded to one width. */
export function fields(values: Readonly<Record<string, string>>): string {
  const width = Math.max(0, ...Object.keys(values).map((name) => name.length));
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(width)}  ${plain(value)}\n`)
    .join('');
}

/** Columns padded to their widest cell; the last one is left as it is. */
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
