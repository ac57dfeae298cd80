/** A key of the first level at the start of a line, bare or quoted, or the header of a table. */
const START = /^\s*(?:\[\s*)?(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*[=.\]]/;

/** The first line of TOML text that sets each key of the first level or opens its table, by key; read in one pass. */
export function keyLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const [at, line] of text.split('\n').entries()) {
    const found = START.exec(line);
    const key = found?.[1] ?? found?.[2] ?? found?.[3];
    if (key !== undefined && !lines.has(key)) lines.set(key, at + 1);
  }
  return lines;
}
