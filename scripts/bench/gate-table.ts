/** Reads and writes rows of the table of recorded ratios in docs/internals/performance.md. */

const HEADING = 'Gate';
const HEADER = ['Measure', 'Ratio to the reference', 'Recorded on', 'Note'] as const;

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());

/** Returns the lines below the heading, up to the next heading of the same or a higher level; null without the heading. */
function sectionOf(markdown: string): string[] | null {
  const lines = markdown.split('\n');
  const levelOf = (line: string): number => /^(#+) /.exec(line)?.[1]?.length ?? Number.POSITIVE_INFINITY;
  const start = lines.findIndex((line) => new RegExp(`^#+ ${HEADING}\\s*$`).test(line));
  if (start === -1) return null;
  const level = levelOf(lines[start] as string);
  const below = lines.slice(start + 1);
  const end = below.findIndex((line) => levelOf(line) <= level);
  return end === -1 ? below : below.slice(0, end);
}

function ratioOf(measure: string, text: string): number {
  const ratio = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (ratio > 0) return ratio;
  throw new Error(
    `Row "${measure}" of the gate table: "${text}" is not a ratio. Write a number such as 1.45.`,
  );
}

/**
 * Reads the recorded ratio of each of `measures`. Throws an Error that names the problem: no heading, no table, a missing,
 * duplicate or unknown row, a malformed ratio.
 */
export function parseGateTable(markdown: string, measures: readonly string[]): ReadonlyMap<string, number> {
  const section = sectionOf(markdown);
  if (section === null) throw new Error(`There is no heading "${HEADING}".`);
  const header = section.findIndex((line) => cellsOf(line).join('|') === HEADER.join('|'));
  if (header === -1)
    throw new Error(`Section "${HEADING}" has no table with the columns ${HEADER.join(', ')}.`);
  const ratios = new Map<string, number>();
  for (const line of section.slice(header + 2)) {
    if (!line.trim().startsWith('|')) break;
    const [measure = '', ratio = ''] = cellsOf(line);
    if (!measures.includes(measure)) throw new Error(`The gate table has an unknown row "${measure}".`);
    if (ratios.has(measure)) throw new Error(`The gate table has two rows "${measure}".`);
    ratios.set(measure, ratioOf(measure, ratio));
  }
  const missing = measures.filter((measure) => !ratios.has(measure));
  if (missing.length > 0) throw new Error(`The gate table has no row "${missing.join('", "')}".`);
  return ratios;
}

/** A row of the table. */
export const gateRow = (measure: string, ratio: number, date: string, note: string): string =>
  `| ${measure} | ${ratio.toFixed(2)} | ${date} | ${note} |`;
