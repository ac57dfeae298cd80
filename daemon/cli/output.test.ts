import { describe, expect, it } from 'vitest';
import { fields, fitted, json, plain, table, truncate } from './output.ts';

describe('json', () => {
  it('is one value and a newline', () => {
    const text = json({ a: [1, 'é'] });
    expect(text.endsWith('}\n')).toBe(true);
    expect(JSON.parse(text)).toEqual({ a: [1, 'é'] });
  });
});

describe('plain', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', '[31mred[0m'],
    ['bell\u0007 back\b \u009b2J', 'bell back 2J'],
    ['two\r\nlines\tand a tab', 'two\nlines\tand a tab'],
    ['ünï 漢字 🙂', 'ünï 漢字 🙂'],
  ])('%j', (text, expected) => expect(plain(text)).toBe(expected));
});

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
  it('leaves what fits, and what may not shrink', () => {
    expect(fitted(head, rows, { width: 80, shrink: [0, 2] })).toBe(table(head, rows));
    expect(fitted(head, rows, { width: 10, shrink: [] })).toBe(table(head, rows));
  });
});

describe('cut', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['abcd', 1, '…'],
  ])('%s to %d is %s', (text, most, expected) => expect(truncate(text, most)).toBe(expected));
});
