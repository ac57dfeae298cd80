import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const page = readFileSync(join(root, 'docs', 'internals', 'asvs.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split('|').slice(1, -1));
const numbers = rows.flatMap(([cell = '']) => cell.split(',').map((each) => each.trim()));

/** How many requirements of levels 1 and 2 each chapter has (OWASP ASVS 5.0.0). */
const CHAPTERS = [27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7];

describe('the table of the verification standard', () => {
  it('covers each requirement of levels 1 and 2 once', () => {
    expect(new Set(numbers).size).toBe(numbers.length);
    const counted = CHAPTERS.map((_, i) => numbers.filter((each) => each.startsWith(`${i + 1}.`)).length);
    expect(counted).toEqual(CHAPTERS);
  });

  it('gives met, n/a or waived, and the reason', () => {
    for (const [, state = '', why = ''] of rows) {
      expect(state.trim()).toMatch(/^(met|n\/a|waived)$/);
      expect(why.trim().length).toBeGreaterThan(5);
    }
  });

  it('names files that are there', () => {
    const paths = [...page.matchAll(/`((?:[\w-]+\/)+[\w.-]+|[A-Z]+\.md)`/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(50);
    expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });
});
