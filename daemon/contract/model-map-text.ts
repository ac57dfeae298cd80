/** Returns the entries of a table as lines of `name = first, second`; of an entry with additional keys only the name. */
export const mapLines = (value: object): string[] =>
  Object.entries(value).map(([name, entry]) => {
    if (Array.isArray(entry)) return `${name} = ${entry.join(', ')}`;
    return typeof entry === 'object' ? name : `${name} = ${entry}`;
  });

/**
 * Parses lines of `name = first, second`. The last `=` of a line separates. Returns null when a line has no name or
 * no list, or when a name occurs twice.
 */
export function parseMapLines(text: string): Record<string, string[]> | null {
  const entries: [string, string[]][] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const at = line.lastIndexOf('=');
    const name = line.slice(0, Math.max(0, at)).trim();
    const list = line
      .slice(at + 1)
      .split(',')
      .map((entry) => entry.trim())
      .filter(Boolean);
    if (name === '' || list.length === 0 || entries.some(([other]) => other === name)) return null;
    entries.push([name, list]);
  }
  return Object.fromEntries(entries);
}
