import type { Failure, SuiteCounts } from './counts.ts';

/** Inputs that each kind of fault needs: the one that a client met, and five that share its code path. */
export const MIN_INPUTS = 6;

/** A test that `docs/internals/client-faults.md` names: a file, and a part of the titles in it. */
export interface NamedTest {
  readonly file: string;
  /** As in the source, so that placeholders such as `%s` are part of it. Empty for the whole file. */
  readonly title: string;
}

export interface FaultRow {
  readonly kind: string;
  readonly tests: readonly NamedTest[];
}

/** Returns the rows of the page. A test is a file in backticks, followed by any number of titles in quotes. */
export function faultRows(page: string): FaultRow[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| ') && line.includes('.ts`'))
    .map((line) => {
      const [, kind = '', where = ''] = line.split('|');
      const tests = [...where.matchAll(/`([^`]+)`((?:,? "[^"]+")*)/g)].flatMap(([, file = '', list = '']) => {
        const titles = [...list.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title);
        return (titles.length > 0 ? titles : ['']).map((title) => ({ file, title }));
      });
      return { kind: kind.trim(), tests };
    });
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Returns a pattern for the names of tests with this title: a placeholder stands for any text. */
const patternOf = (title: string): RegExp =>
  new RegExp(
    title
      .split(/%[a-z]|\$\w+/)
      .map(escaped)
      .join('.*'),
    's',
  );

/** Random inputs: one test runs many. */
const IS_RANDOM = /\.(property|differential)\.test\.ts$/;

/** Returns how many inputs a row has: its tests by name, where each row of a table is one test. */
export function inputsOf({ tests }: FaultRow, names: ReadonlyMap<string, readonly string[]>): number {
  const found = new Set<string>();
  for (const { file, title } of tests) {
    const pattern = patternOf(title);
    const matching = (names.get(file) ?? []).filter((name) => pattern.test(name));
    if (IS_RANDOM.test(file) && matching.length > 0) return Number.POSITIVE_INFINITY;
    for (const name of matching) found.add(`${file} ${name}`);
  }
  return found.size;
}

/**
 * Checks the rows of which all files have run, apart from those of browser tests, which count nothing. Returns null
 * when there is none.
 */
export function checkFaultRows(
  page: string,
  names: ReadonlyMap<string, readonly string[]>,
): { readonly counts: SuiteCounts; readonly failures: readonly Failure[] } | null {
  const rows = faultRows(page).filter(({ tests }) => {
    const files = tests.map(({ file }) => file).filter((file) => !file.endsWith('.spec.ts'));
    return files.length > 0 && files.every((file) => names.has(file));
  });
  if (rows.length === 0) return null;
  const failures = rows
    .map((row) => ({ row, count: inputsOf(row, names) }))
    .filter(({ count }) => count < MIN_INPUTS)
    .map(({ row, count }) => ({
      name: `client faults: ${row.kind}`,
      text: `Its tests have ${count} inputs. A kind of fault needs ${MIN_INPUTS}.`,
    }));
  const failed = failures.length;
  const counts = { name: 'client faults', seconds: 0, passed: rows.length - failed, failed, skipped: 0 };
  return { counts, failures };
}
