import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzing } from '../test/harness/scale.ts';
import { describeEnvFile, EnvFileError, parseEnvFile, setInEnvFile } from './env-file.ts';
import { scanEnv } from './env-scan.ts';
import { ENV_MARKS } from './testing/env-marks.ts';

const bytes = (text: string) => Buffer.from(text, 'utf8');
const set = (text: string, name: string, value: string) =>
  setInEnvFile(bytes(text), name, value).toString('utf8');
const read = (text: string) => Object.fromEntries(parseEnvFile(bytes(text)));

test('the last assignment wins, and invalid names are ignored', () => {
  expect(read('A=1\n3C=x\nA=2\n=x\nÄ=1\nset D=1\n')).toEqual({ A: '2' });
});

test('finds the intended name at the end of an invalid one, for any line length', () => {
  const began = process.cpuUsage();
  const { misplaced } = describeEnvFile(
    bytes(`${`${'a'.repeat(1000)} `.repeat(1000)}K=1\n${'a'.repeat(1e6)}-=1\n`),
  );
  expect([...misplaced]).toEqual(['K', '']);
  expect(process.cpuUsage(began).user).toBeLessThan(5e6);
});

test('an invalid name without a value has no effect to report, and only the end of a name counts', () => {
  const { notes, misplaced } = describeEnvFile(bytes('set A=\nset B=""\nset\tC-D=1\n+=2\n'));
  expect(notes.map(({ line }) => line)).toEqual([1, 2, 3, 4]);
  expect([...misplaced]).toEqual(['D', '']);
});

test('ignores a value that is not UTF-8 or contains a NUL', () => {
  expect(read('A=käse\n')).toEqual({ A: 'käse' });
  const odd = Buffer.concat([bytes('A=1\nA='), Buffer.from([0xff]), bytes('\nB=x\0\nC=2\n')]);
  expect(Object.fromEntries(parseEnvFile(odd))).toEqual({ A: '1', C: '2' });
});

test.each([
  ['a byte order mark at the start', '\ufeffA=1\nB=2\n', { A: '1', B: '2' }],
  ['a byte order mark before a comment', '\ufeff# c\nB=2\n', { B: '2' }],
  ['a byte order mark on a later line', 'B=2\n\ufeffA=1\n', { B: '2' }],
  ['export', 'export A=1\n  export\tB = 2\n', { A: '1', B: '2' }],
  ['export with quotes', 'export A="x y"\r\n', { A: 'x y' }],
  ['export after a byte order mark', '\ufeffexport A=1\n', { A: '1' }],
  [
    'export alone, and names that begin with it',
    'export=1\nexportA=2\nexport\n',
    { export: '1', exportA: '2' },
  ],
  ['export with an invalid name, and twice', 'export 1A=1\nexport export B=2\nexport A B=3\n', {}],
  ['the last assignment with and without export', 'export A=1\nA=2\nB=1\nexport B=2\n', { A: '2', B: '2' }],
])('reads what shells and editors write: %s', (_, text, values) => expect(read(text)).toEqual(values));

test.each([
  ['K=abc # mine', [1]],
  ['K="abc" # mine', [1]],
  ["K='a' 'b'\t#c", [1]],
  ['K= # set me', [1]],
  ['export K=abc #', [1]],
  ['A=1\nK=a # b\nB=c #d\n', [2, 3]],
  ['K="abc # mine"', []],
  ["K='abc # mine'", []],
  ['K=abc#mine', []],
  ['K=#abc', []],
  ['# K=abc # mine', []],
  [`K=${'x'.repeat(1 << 20)} # y`, []],
  [`K="${'\\"'.repeat(1 << 18)}" # y`, []],
])('reports a hash that looks like a comment: %.30j', (text, lines) => {
  expect(describeEnvFile(bytes(text)).withHash).toEqual(lines);
});

test('reports ignored lines by number, without their text', () => {
  const file = Buffer.concat([
    bytes('set A=1\nhello\nexport B=2\n0=1\n\nC=3\nD='),
    Buffer.from([0xfe]),
    bytes('\n'),
  ]);
  const { notes, lines } = describeEnvFile(file);
  expect(notes).toEqual([
    { line: 1, message: 'has no valid name' },
    { line: 2, message: 'is not NAME=value' },
    { line: 4, message: 'has no valid name' },
    { line: 7, message: 'has a value that is not UTF-8 text' },
  ]);
  expect([...lines]).toEqual([
    ['B', 3],
    ['C', 6],
  ]);
});

test.each([
  ['an open last line', 'A=1\nhello', [2], [['A', 1]]],
  ['lines after empty ones', '\n\nhello\nA=1', [3], [['A', 4]]],
  ['a text without line ends', 'hello', [1], []],
])('counts lines correctly: %s', (_title, text, notes, lines) => {
  const described = describeEnvFile(bytes(text));
  expect(described.notes.map(({ line }) => line)).toEqual(notes);
  expect([...described.lines]).toEqual(lines);
});

test('a comment ends with its line, for any last character', () => {
  expect(read('# x \\\nA=1\n')).toEqual({ A: '1' });
});

test('a byte order mark within a value is part of it', () => {
  expect(read('A=\ufeffx\n')).toEqual({ A: '\ufeffx' });
});

const EDITS: ReadonlyArray<[string, string, string]> = [
  ['empty file', '', 'K=new\n'],
  ['plain', 'A=1\nK=old\nB=2\n', 'A=1\nK=new\nB=2\n'],
  ['missing name', 'A=1\n', 'A=1\nK=new\n'],
  ['missing name, no final newline', 'A=1', 'A=1\nK=new'],
  ['no final newline', 'K=old', 'K=new'],
  ['CRLF', '# c\r\nK=old\r\n\r\nA=1\r\n', '# c\r\nK=new\r\n\r\nA=1\r\n'],
  ['missing name, CRLF', 'A=1\r\n', 'A=1\r\nK=new\r\n'],
  ['double quotes stay', 'K="old" \nA=1\n', 'K="new" \nA=1\n'],
  ['single quotes stay', " K = 'o l d'\n", " K = 'new'\n"],
  ['pieces become one value', 'K="a" \'b\' c\n', 'K=new\n'],
  ['continuation becomes one line', 'K=a\\\nb\\\nc\nA=1\n', 'K=new\nA=1\n'],
  ['several: the last one', 'K=1\nA=2\nK=3\n', 'A=2\nK=new\n'],
  ['several, beside each other', 'K=1\nK=2\nK=3\n', 'K=new\n'],
  [
    'several, with comments and blank lines between',
    '# 1\nK=1\n\n# 2\n K=2 \nA=1\nK=3',
    '# 1\n\n# 2\nA=1\nK=new',
  ],
  ['several, with CRLF', 'K=1\r\nA=2\r\nK=3\r\n', 'A=2\r\nK=new\r\n'],
  ['several, quoted and over several lines', 'K="a\nb"\nA=1\nK=c\\\nd\nK=\'e\'\n', "A=1\nK='new'\n"],
  ['several, with export', 'export K=1\nA=2\nK=3\nexport K=4\n', 'A=2\nexport K=new\n'],
  ['several, the first after a byte order mark', '\ufeffK=1\nK=2\n', '\ufeffK=new\n'],
  ['several, before a byte order mark: all stay', 'K=1\n\ufeffA=1\nK=2\n', 'K=1\n\ufeffA=1\nK=new\n'],
  ['several, a dead one without a value', 'K=\nK=1\n', 'K=new\n'],
  [
    'several, behind a comment that older systemd continues: both stay',
    'A=1\n# x \\\nK=1\nK=2\n',
    'A=1\n# x \\\nK=1\nK=new\n',
  ],
  ['commented out', '#K=old\n;K=old\n', '#K=old\n;K=old\nK=new\n'],
  ['only inside quotes', 'A="\nK=old\n"\n', 'A="\nK=old\n"\nK=new\n'],
  ['only inside a continuation', 'A=x\\\nK=old\n', 'A=x\\\nK=old\nK=new\n'],
  ['export stays', 'export K=old\n', 'export K=new\n'],
  ['blank', 'K=\nA=1\n', 'K=new\nA=1\n'],
  ['blank at the end of the text', 'A=1\nK=', 'A=1\nK=new'],
  ['longer names are other names', 'XK=1\nKX=2\n', 'XK=1\nKX=2\nK=new\n'],
  ['byte order mark before the name', '\ufeffK=old\nA=1\n', '\ufeffK=new\nA=1\n'],
  ['only a byte order mark', '\ufeff', '\ufeff\nK=new'],
  ['open double quote', 'A="x', 'A="x"\nK=new'],
  ['open double quote after a newline', 'A="x\n', 'A="x\n"\nK=new'],
  ['open single quote', "A='x", "A='x'\nK=new"],
  ['open escape', 'A=x\\', 'A=x\\\n\nK=new'],
  ['open escape in quotes', 'A="x\\', 'A="x\\\n"\nK=new'],
  ['open comment', '# x', '# x\nK=new'],
  ['open comment with a backslash', '# x\\', '# x\\\n\nK=new'],
  ['blanks at the end', 'A=1\n  ', 'A=1\n  \nK=new'],
  ['a line without equals sign at the end', 'hello', 'hello\nK=new'],
  ['an escape in double quotes', 'K="o\\"l\\ d"\n', 'K="new"\n'],
  ['a word before quotes', 'K=a"b"\n', 'K=new\n'],
  ['blanks around the value', 'K= \told \t\nA=1\n', 'K= \tnew \t\nA=1\n'],
  ['a value of blanks', 'K=  \n', 'K=  new\n'],
  [
    'another value to older systemd, which continues the comment',
    'K=old\n# \\\nK=1\n',
    'K=old\n# \\\nK=1\nK=new\n',
  ],
  ['behind a comment that older systemd continues', '# x \\\nK=old\n', '# x \\\nK=old\nK=new\n'],
];

test.each(EDITS)('edit: %s', (_title, before, after) => {
  expect(set(before, 'K', 'new')).toBe(after);
  expect(parseEnvFile(bytes(after)).get('K')).toBe('new');
});

test.each(['', 'a b', ' x ', '#x', ';x', '"x"', "it's", '\\', '$A `b` "c" \\d', 'käse', '!{}[]<>|&*?~^()'])(
  'the value %j reads back',
  (value) => {
    for (const before of ['', 'K=o\n', "K='o'\n", 'K="o"\n', 'K="o\\"o"', "K='open"]) {
      expect(parseEnvFile(bytes(set(before, 'K', value))).get('K')).toBe(value);
    }
  },
);

test.each([
  ['1K', 'x'],
  ['', 'x'],
  ['A B', 'x'],
  ['K', 'a\nb'],
  ['K', 'a\0'],
  ['K', 'a\x7f'],
])('the name %j with the value %j is refused', (name, value) => {
  const reason = name === 'K' ? /value contains control characters/ : /not a variable name/;
  expect(() => set('A=1\n', name, value)).toThrow(reason);
});

test('refuses a file that two releases of systemd read differently when no edit is correct for both', () => {
  const refused = () => set('# \\\nK="\nK="', 'K', 'new');
  expect(refused).toThrow(EnvFileError);
  expect(refused).toThrow(
    expect.objectContaining({ name: 'EnvFileError', message: expect.stringContaining('in an editor') }),
  );
});

test('preserves bytes that are not UTF-8', () => {
  const before = Buffer.concat([
    bytes('# '),
    Buffer.from([0xff, 0xfe, 0x80]),
    bytes('\nK=old\nZ='),
    Buffer.from([0xc3]),
  ]);
  const after = setInEnvFile(before, 'K', 'new');
  expect(after).toEqual(Buffer.from(before.toString('latin1').replace('old', 'new'), 'latin1'));
});

const piece = fc.oneof(
  fc.constantFrom('K', 'A', ...ENV_MARKS, '\ufeff'),
  fc.constantFrom('K=old\n', 'A=1\n', 'K="o\\"ld"\n', "K='old'\r\n", '# c \\\n', 'B="x\ny"\n', 'Z=a\\\nb\n'),
  fc.string({ maxLength: 4 }),
);
const file = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(''));
const printable = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_ "\'\\$`#;=é'), maxLength: 12 });

/**
 * Matches a comment that continues in older releases of systemd and ends in newer ones, so that the following
 * text is ambiguous.
 */
const UNDECIDED = /^\ufeff?[ \t]*[#;].*\\\r?$/m;

/**
 * Returns `before` with a new value of K, or null if it is refused, which only an ambiguous comment may
 * cause.
 */
function changed(before: string, value: string): Buffer | null {
  try {
    return setInEnvFile(bytes(before), 'K', value);
  } catch (error) {
    expect(error).toBeInstanceOf(EnvFileError);
    expect(before).toMatch(UNDECIDED);
    return null;
  }
}

test('property: any value can be set in any file, and all other names keep theirs', () => {
  fc.assert(
    fc.property(file, printable, (before, value) => {
      const after = changed(before, value);
      if (after === null) return;
      const expected = parseEnvFile(bytes(before)).set('K', value);
      expect(new Map([...parseEnvFile(after)].sort())).toEqual(new Map([...expected].sort()));
    }),
    fuzzing('values in env files', 100_000),
  );
});

/** Returns the text without the lines that assign K. */
function withoutK(text: string): string {
  const spans = scanEnv(text).assignments.filter(({ name }) => /^(?:export[ \t]+)?K$/.test(name));
  return spans.reduceRight((rest, { start, valueEnd }) => {
    const before = rest.slice(0, start).replace(/[ \t]*$/, '');
    return before + rest.slice(valueEnd).replace(/^(?:\r\n|\r|\n)/, '');
  }, text);
}

/** Returns whether `after` is `before` with appended text, or differs from it in lines of K only. */
function onlyLinesOfKChanged(before: Buffer, after: Buffer): boolean {
  const [old, now] = [before.toString('latin1'), after.toString('latin1')];
  return now.startsWith(old) || withoutK(now) === withoutK(old);
}

test('property: everything outside the lines of the name is preserved byte for byte', () => {
  fc.assert(
    fc.property(file, printable, (text, value) => {
      const before = bytes(text);
      const after = changed(text, value);
      if (after === null) return;
      expect(onlyLinesOfKChanged(before, after)).toBe(true);
      if (!UNDECIDED.test(text)) expect(setInEnvFile(after, 'K', value)).toEqual(after);
    }),
    fuzzing('bytes of env files', 100_000),
  );
});
