import type { Difference } from './difference.ts';

/** One row of the table of differences that are known and meant. */
export interface Row {
  readonly where: readonly RegExp[];
  readonly field: RegExp;
  readonly theirs: RegExp;
  readonly ours: RegExp;
  /** As it stands in the table. */
  readonly text: string;
}

const COLUMNS = 5;

/** The version of llama.cpp that the table was made with; the text before it says which. */
export const versionOf = (markdown: string): string | undefined =>
  /llama\.cpp (\d[\d.]*\d)/.exec(markdown)?.[1];

/** The rows of the table in a text of Markdown; throws when a row has other columns or gives no reason. */
export function knownDifferences(markdown: string): Row[] {
  const rows = markdown.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((text) => {
    const cells = text
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
    const [where = '', field = '', theirs = '', ours = '', why = ''] = cells.map((cell) =>
      cell.replace(/^`(.*)`$/, '$1'),
    );
    if (cells.length !== COLUMNS || why === '') throw new Error(`not a row with a reason: ${text}`);
    return {
      where: where.split(/, (?=chat|completions|embeddings|rerank|error)/).map(pattern),
      field: pattern(field),
      theirs: pattern(theirs),
      ours: pattern(ours),
      text,
    };
  });
}

/** `*` stands for anything, the rest for itself. */
const pattern = (text: string): RegExp => new RegExp(`^${text.split('*').map(escaped).join('.*')}$`, 's');

const escaped = (text: string): string => text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');

/** The first row that lists a difference seen in this group of cases, if any. */
export const rowOf = (rows: readonly Row[], where: string, difference: Difference): Row | undefined =>
  rows.find(
    (row) =>
      row.where.some((each) => each.test(where)) &&
      row.field.test(difference.field) &&
      row.theirs.test(difference.theirs) &&
      row.ours.test(difference.ours),
  );
