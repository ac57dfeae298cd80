/** Matches a top-level key at the start of a line, bare or quoted, or the header of a table. */
const START = /^\s*(?:\[\s*)?(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*[=.\]]/;

/** Returns the first line of each top-level key or table of TOML text, in one pass. */
export function keyLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const [at, line] of text.split('\n').entries()) {
    const found = START.exec(line);
    const key = found?.[1] ?? found?.[2] ?? found?.[3];
    if (key !== undefined && !lines.has(key)) lines.set(key, at + 1);
  }
  return lines;
}
