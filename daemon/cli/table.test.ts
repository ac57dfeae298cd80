import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { fields, fitted, table, truncate } from './table.ts';

describe('fields', () => {
  it('pads names to one width, and is empty for nothing', () => {
    expect(fields({ A: '1', Longer: 'two' })).toBe('A       1\nLonger  two\n');
    expect(fields({})).toBe('');
    expect(fields({ A: '\u001b[2J' })).toBe('A  [2J\n');
  });
});

describe('table', () => {
  it('pads columns to their widest cell, without blanks at the end', () => {
    expect(
      table(
        ['NAME', 'X'],
        [
          ['a', 'long cell'],
          ['longer name', ''],
        ],
      ),
    ).toBe('NAME         X\na            long cell\nlonger name\n');
  });
  it('is its head alone without rows, and removes control characters from cells', () => {
    expect(table(['A', 'B'], [])).toBe('A  B\n');
    expect(table(['A'], [['x\u001b]0;title\u0007']])).toBe('A\nx]0;title\n');
  });
});

describe('wide characters', () => {
  it.each([
    ['漢字モデル', 10],
    ['🙂 smile', 8],
    ['👩‍👩‍👧‍👦', 2],
    ['e\u0301te\u0301', 3],
  ])('%s takes %d columns', (text, width) => {
    const out = table(
      ['NAME', 'X'],
      [
        [text, 'end'],
        ['a-longer-name', 'end'],
      ],
    );
    expect(out.split('\n')[1]).toBe(`${text}${' '.repeat(13 - width)}  end`);
  });
});

describe('fitted', () => {
  const rows = [['a-slot-with-a-long-name', 'ready', 'a-model-with-a-name-that-is-longer-still']];
  const head = ['SLOT', 'STATE', 'MODEL'];
  it('cuts the widest of the columns that may shrink, until the line fits', () => {
    for (const width of [20, 30, 40, 50, 60, 70, 80]) {
      const lines = fitted(head, rows, { width, shrink: [0, 2] })
        .trimEnd()
        .split('\n');
      for (const line of lines)
        expect(line.length, line).toBeLessThanOrEqual(Math.max(width, 6 + 2 + 5 + 2 + 6));
    }
    expect(fitted(head, rows, { width: 40, shrink: [0, 2] })).toMatch(/ready {2}\S+…\n$/);
  });
  it('does not truncate headings', () => {
    const long = 'x'.repeat(30);
    const [first, second] = fitted(['BOUND TO', 'LICENCE'], [[long, long]], {
      width: 10,
      shrink: [0, 1],
    }).split('\n');
    expect([first, second]).toEqual(['BOUND TO  LICENCE', 'xxxxxxx…  xxxxxx…']);
  });
  it('shrinks ids last', () => {
    const options = { width: 70, shrink: [1], shrinkLast: [2] };
    const [, line = ''] = fitted(head, [['a', 'a-long-state-of-a-slot', 'owner/the-id']], options).split(
      '\n',
    );
    expect(line).toMatch(/owner\/the-id$/);
    const [, narrow = ''] = fitted(head, [['a', 'a-long-state', 'owner/the-long-id']], {
      ...options,
      width: 24,
    }).split('\n');
    expect(narrow).toBe('a     a-lon…  owner/the…');
  });
  it('fits wide characters by their columns', () => {
    const lines = fitted(['A', 'B'], [['漢字'.repeat(20), 'x']], { width: 30, shrink: [0] }).split('\n');
    expect(stringWidth(lines[1] ?? '')).toBeLessThanOrEqual(30);
    expect(lines[1]).toMatch(/^(漢字)+漢?… +x$/);
  });
  it('leaves what fits, and what may not shrink', () => {
    expect(fitted(head, rows, { width: 80, shrink: [0, 2] })).toBe(table(head, rows));
    expect(fitted(head, rows, { width: 10, shrink: [] })).toBe(table(head, rows));
  });
});

describe('truncate', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['abcd', 1, '…'],
    ['漢字かな', 8, '漢字かな'],
    ['漢字かな', 7, '漢字か…'],
    ['漢字かな', 6, '漢字…'],
    ['👩‍👩‍👧‍👦ab', 4, '👩‍👩‍👧‍👦ab'],
    ['👩‍👩‍👧‍👦ab', 3, '👩‍👩‍👧‍👦…'],
    ['e\u0301e\u0301e\u0301', 3, 'e\u0301e\u0301e\u0301'],
  ])('%s to %d is %s', (text, maxWidth, expected) => expect(truncate(text, maxWidth)).toBe(expected));
});
