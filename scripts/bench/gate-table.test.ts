import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MEASURES } from './gate-measures.ts';
import { gateRow, parseGateTable } from './gate-table.ts';

const HEADER = '| Measure | Ratio to the reference | Recorded on | Note |\n| --- | --- | --- | --- |';
const page = (...rows: string[]): string =>
  ['# Performance', '', '## Gate', '', 'How it measures.', '', HEADER, ...rows, '', '## Next', ''].join('\n');
const small = gateRow('small chat', 1.4512, '2026-11-26', 'abc1234');
const large = gateRow('4 MB chat', 2, '2026-11-26', 'abc1234');
const parse = (text: string) => parseGateTable(text, ['small chat', '4 MB chat']);

test('a written row can be parsed', () => {
  expect(small).toBe('| small chat | 1.45 | 2026-11-26 | abc1234 |');
  expect([...parse(page(small, large))]).toEqual([
    ['small chat', 1.45],
    ['4 MB chat', 2],
  ]);
});

test('other tables of the section and the page are ignored', () => {
  const other = '| Run | Ratio |\n| --- | --- |\n| 1 | x |\n';
  expect(parse(`${other}\n${page(small, large).replace('How it', `${other}\nHow it`)}`).size).toBe(2);
});

test.each([
  ['no heading', page(small, large).replace('## Gate', '## Other'), 'no heading "Gate"'],
  ['no table', '## Gate\n\nText.\n', 'has no table with the columns Measure, Ratio'],
  ['a table of the next section', `## Gate\n\n## Next\n\n${HEADER}\n${small}\n${large}\n`, 'has no table'],
  ['a missing row', page(small), 'no row "4 MB chat"'],
  ['a duplicate row', page(small, small, large), 'two rows "small chat"'],
  ['an unknown row', page(small, large.replace('4 MB', '5 MB')), 'unknown row "5 MB chat"'],
  ['a malformed number', page(small, large.replace('2.00', '2,00')), '"2,00" is not a ratio'],
  ['zero', page(small, large.replace('2.00', '0')), '"0" is not a ratio'],
  ['an empty cell', page(small, large.replace('2.00', '')), '"" is not a ratio'],
])('%s is an error that names it', (_, text, message) => {
  expect(() => parse(text)).toThrow(message);
});

test('the page of this repository has a ratio for every measure', () => {
  const file = join(import.meta.dirname, '..', '..', 'docs', 'internals', 'performance.md');
  const names = MEASURES.map(({ name }) => name);
  expect([...parseGateTable(readFileSync(file, 'utf8'), names).keys()].sort()).toEqual(names.toSorted());
});
