import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { faultRows } from './testing/fault-rows.ts';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs', 'internals', 'cases.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => /^\| [A-Z]/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
const ids = rows.map(([id = '']) => id);

/** Number of cases per group, so that a removed case is noticed. */
const GROUPS = {
  C: 17,
  T: 11,
  K: 10,
  R: 15,
  L: 11,
  O: 12,
  B: 10,
  H: 5,
  S: 6,
  P: 11,
  DL: 8,
  I: 3,
  Q: 5,
  F: 5,
  M: 2,
  W: 3,
  X: 5,
};

/** Ids with which titles of suites and tests begin: `it('R04 …`, `describe('S03 P03 …`. D are decisions, no cases. */
function titled(text: string): string[] {
  const titles = [...text.matchAll(/\b(?:it|test|describe)\b[^'"`\n]*['"`]((?:[A-Z]{1,2}\d\d[/ ])+)/g)];
  return titles.flatMap(([, begin = '']) => begin.trim().split(/[/ ]/)).filter((id) => !/^D\d/.test(id));
}

const suites = ['daemon', 'e2e'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(test|spec)\.ts$/.test(name))
    .map((name) => join(folder, name)),
);
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

describe('the table of cases', () => {
  it('has each case once, and all of each group', () => {
    expect(new Set(ids).size).toBe(ids.length);
    const counted = Object.keys(GROUPS).map((group) => [
      group,
      ids.filter((id) => id.replace(/\d+$/, '') === group).length,
    ]);
    expect(Object.fromEntries(counted)).toEqual(GROUPS);
  });

  it.each(rows)('%s: %s', (id = '', words = '', where = '') => {
    expect(words.length).toBeGreaterThan(5);
    const untested = /^none: (.{20,})$/.exec(where);
    const files = [...where.matchAll(/`([^`]+)`/g)].map(([, file = '']) => file);
    expect(files.length > 0 || untested !== null, 'a file, or why there is none').toBe(true);
    for (const file of files) {
      expect(existsSync(join(root, file)), file).toBe(true);
      expect(new RegExp(`\\b${id}\\b`).test(textOf(file)), `${file} names ${id}`).toBe(true);
    }
  });

  it('contains every id with which a test begins', () => {
    const known = new Set(ids);
    const unknown = suites.flatMap((file) =>
      titled(textOf(file))
        .filter((id) => !known.has(id))
        .map((id) => `${file}: ${id}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('the table of faults that clients met', () => {
  const faults = faultRows(readFileSync(join(root, 'docs', 'internals', 'client-faults.md'), 'utf8'));

  it('has the rows of all parts', () => expect(faults.length).toBeGreaterThanOrEqual(90));

  it.each(faults)('$kind', ({ tests }) => {
    expect(
      tests.some(({ file }) => file.endsWith('.test.ts')),
      'a test that counts',
    ).toBe(true);
    for (const { file, title } of tests) {
      expect(existsSync(join(root, file)), file).toBe(true);
      expect(textOf(file).includes(title), `${file} has "${title}"`).toBe(true);
    }
  });
});
