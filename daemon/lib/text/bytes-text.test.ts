import { describe, expect, it } from 'vitest';
import { formatBytes } from './bytes-text.ts';

describe('bytes', () => {
  it.each([
    [null, '-'],
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [5_000_000_000, '4.7 GiB'],
    [150 * 1024 ** 2, '150 MiB'],
    [2 ** 60, '1048576 TiB'],
  ])('%s is %s', (value, text) => expect(formatBytes(value)).toBe(text));
});
