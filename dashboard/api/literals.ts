/** Quotes a text as one POSIX shell word. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A JSON value as a Python literal. */
export function pythonLiteral(value: unknown, indent = ''): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  if (value === null || value === undefined) return 'None';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${indent}    `;
  const rows = Array.isArray(value)
    ? value.map((item) => pythonLiteral(item, inner))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${pythonLiteral(item, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (rows.length === 0) return `${open}${close}`;
  return `${open}\n${rows.map((row) => `${inner}${row},\n`).join('')}${indent}${close}`;
}
