import { expect, test } from 'vitest';
import { type Scan, scanEnv } from './env-scan.ts';

const pairs = (scan: Scan) => scan.assignments.map((one) => [one.name, one.value]);

/** Each row was verified with systemd 252 (its environment generator uses the same parser). */
const READINGS: ReadonlyArray<[string, string, Array<[string, string]>]> = [
  [
    'plain',
    'A=1\nB=2\n',
    [
      ['A', '1'],
      ['B', '2'],
    ],
  ],
  ['no final newline', 'A=1', [['A', '1']]],
  [
    'blank value',
    'A=\nB= \n',
    [
      ['A', ''],
      ['B', ''],
    ],
  ],
  ['blank value at the end of the text', 'A=', [['A', '']]],
  ['blanks around name and value', '  A = x y \t\n', [['A', 'x y']]],
  [
    'CRLF',
    'A=1\r\nB="2"\r\n',
    [
      ['A', '1'],
      ['B', '2'],
    ],
  ],
  ['comments', '#A=1\n;B=2\n  # C=3\nD=4\n', [['D', '4']]],
  ['no comment behind a value', 'A=1 # x\n', [['A', '1 # x']]],
  ['single quotes keep everything', "A='x\\\"$y'\n", [['A', 'x\\"$y']]],
  ['double quotes', 'A="x \\" \\\\ \\` \\$ \\n"\n', [['A', 'x " \\ ` $ \\n']]],
  [
    'quotes across lines',
    'A="x\ny"\nB=\'p\nq\'\n',
    [
      ['A', 'x\ny'],
      ['B', 'p\nq'],
    ],
  ],
  ['backslash newline in double quotes', 'A="x\\\ny"\n', [['A', 'xy']]],
  [
    'continuation line',
    'A=x\\\n  y\nB=1\n',
    [
      ['A', 'x  y'],
      ['B', '1'],
    ],
  ],
  [
    'no continuation over CRLF',
    'A=x\\\r\nB=1\n',
    [
      ['A', 'x'],
      ['B', '1'],
    ],
  ],
  ['escape outside quotes', 'A=\\"x\\ \n', [['A', '"x ']]],
  ['pieces are joined', 'A="x" \'y\' z\n', [['A', 'xyz']]],
  ['a quote inside a bare value is a character', 'A=x"y"\n', [['A', 'x"y"']]],
  ['bare value after a quoted one', 'A="x" y "z"  \n', [['A', 'xy "z"']]],
  ['no expansion', 'A=$B $(C)\n', [['A', '$B $(C)']]],
  ['open quote at the end', 'A="x  ', [['A', 'x  ']]],
  ['open single quote at the end', "A='x\n", [['A', 'x\n']]],
  ['open escape at the end', 'A=x \\', [['A', 'x ']]],
  ['open escape in quotes at the end', 'A="x\\', [['A', 'x']]],
  ['bare value at the end is trimmed', 'A=x  ', [['A', 'x']]],
  ['export belongs to the name', 'export A=1\n', [['export A', '1']]],
  ['a line without equals sign', 'nonsense\nA=1\nmore', [['A', '1']]],
  [
    'equals signs in the value',
    'A=b=c\n=d=e\n',
    [
      ['A', 'b=c'],
      ['=d', 'e'],
    ],
  ],
  ['names inside quotes are no names', 'A="\nB=1\n"\n', [['A', '\nB=1\n']]],
];

test.each(READINGS)('%s', (_title, text, expectedText) => {
  expect(pairs(scanEnv(text))).toEqual(expectedText);
});

test('a comment that ends in a backslash continues only in older systemd', () => {
  const text = '# x \\\nA=1\n# y \\z\nB=2\n';
  expect(pairs(scanEnv(text))).toEqual([
    ['A', '1'],
    ['B', '2'],
  ]);
  expect(pairs(scanEnv(text, { commentContinues: true }))).toEqual([['B', '2']]);
});

test('offsets enclose name and value', () => {
  const text = '# c\n A = "x" \r\nB=2';
  const spans = scanEnv(text).assignments.map((one) => [
    text.slice(one.start, one.valueStart),
    text.slice(one.valueStart, one.valueEnd),
  ]);
  expect(spans).toEqual([
    ['A =', ' "x" '],
    ['B=', '2'],
  ]);
});

test('reports lines without an equals sign by offset', () => {
  expect(scanEnv('x\nA=1\ny').stray).toEqual([0, 6]);
});

test.each([
  ['', 'preKey'],
  ['A=1\n', 'preKey'],
  ['A', 'key'],
  ['A=', 'preValue'],
  ['A=1', 'value'],
  ['A=1\\', 'valueEscape'],
  ["A='", 'single'],
  ['A="', 'double'],
  ['A="\\', 'doubleEscape'],
  ['#', 'comment'],
  ['#\\', 'commentEscape'],
] as const)('after %j the state is %s', (text, state) => {
  expect(scanEnv(text).end).toBe(state);
});

test.each([
  ['blanks before the equals sign are no part of the name', 'A \t=1\n', [['A', '1']]],
  [
    'blanks alone after a continuation are no value',
    'A=\\\n  \nB=1\n',
    [
      ['A', ''],
      ['B', '1'],
    ],
  ],
  ['a comment at the end assigns nothing', 'A=1\n# x', [['A', '1']]],
  ['a comment at the end with a backslash assigns nothing', 'A=1\n# x\\', [['A', '1']]],
])('%s', (_title, text, expected) => expect(pairs(scanEnv(text))).toEqual(expected));

test('skips a byte order mark at the start of the text only', () => {
  const mark = '\xef\xbb\xbf';
  expect(scanEnv(`${mark}A=1\n${mark}B=2`)).toMatchObject({
    stray: [],
    assignments: [
      { name: 'A', start: 3 },
      { name: `${mark}B`, start: 7 },
    ],
  });
  expect(scanEnv(`${mark}# c`)).toMatchObject({ stray: [], assignments: [], end: 'comment' });
  expect(scanEnv(mark)).toMatchObject({ stray: [], assignments: [], end: 'preKey' });
});

test('carriage returns between lines are blanks', () => {
  expect(scanEnv('\r\n\r\nA=1\r\n')).toMatchObject({ stray: [], assignments: [{ name: 'A', start: 4 }] });
});
