import { describe, expect, it } from 'vitest';
import { outputWidth } from './terminal.ts';

describe('outputWidth', () => {
  const terminal = (columns?: number) => ({ isTTY: true, columns });
  it.each([
    ['a terminal', {}, terminal(120), undefined, 120],
    ['a narrow terminal', {}, terminal(20), undefined, 40],
    ['a terminal of unknown width', {}, terminal(), undefined, 80],
    ['COLUMNS at a terminal', {}, terminal(120), '60', 60],
    ['COLUMNS in a pipe', {}, {}, '60', 60],
    ['a wrong COLUMNS', {}, terminal(120), 'many', 120],
    ['an empty COLUMNS', {}, terminal(120), '', 120],
  ])('of %s', (_, flags, stream, variable, width) => {
    expect(outputWidth(flags, stream, variable)).toBe(width);
  });

  it.each([
    ['in a pipe', {}, {}, undefined],
    ['with --wide', { wide: true }, terminal(80), '60'],
  ])('is unlimited %s', (_, flags, stream, variable) => {
    expect(outputWidth(flags, stream, variable)).toBeGreaterThan(10_000);
  });
});
