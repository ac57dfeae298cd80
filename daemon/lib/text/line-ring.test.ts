import { describe, expect, it, vi } from 'vitest';
import { LineRing } from './line-ring.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('LineRing', () => {
  it('joins lines across chunks, including a split character', () => {
    const ring = new LineRing(4);
    const word = bytes('grün\nrest');
    expect(ring.push(word.subarray(0, 3))).toEqual([]);
    expect(ring.push(word.subarray(3))).toEqual(['grün']);
    expect(ring.end()).toBe('rest');
    expect(ring.end()).toBeNull();
    expect(ring.lines()).toEqual(['grün', 'rest']);
  });

  it('keeps the last lines only, oldest first', () => {
    const ring = new LineRing(3);
    ring.push(bytes('1\n2\n3\n4\n5\n'));
    expect(ring.lines()).toEqual(['3', '4', '5']);
    expect(ring.lines(1)).toEqual(['5']);
  });

  it('returns the lines since a time', () => {
    vi.useFakeTimers({ now: 1_000, toFake: ['Date'] });
    try {
      const ring = new LineRing(3);
      ring.push(bytes('1\n2\n'));
      vi.setSystemTime(2_000);
      ring.push(bytes('3\n4\n'));
      expect([0, 1_001, 2_000, 2_001].map((time) => ring.linesSince(time))).toEqual([
        ['2', '3', '4'],
        ['3', '4'],
        ['3', '4'],
        [],
      ]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('P11: a 10 MB line without an end stays bounded and the next line is whole', () => {
    const ring = new LineRing(3, 100);
    const flood = new Uint8Array(1 << 20).fill(65);
    for (let i = 0; i < 10; i++) expect(ring.push(flood)).toEqual([]);
    expect(ring.push(bytes('\nafter\n'))).toEqual([`${'A'.repeat(100)}…`, 'after']);
  });

  it('P11: binary output becomes printable text', () => {
    const ring = new LineRing(3);
    ring.push(new Uint8Array([0, 27, 91, 255, 9, 13, 10]));
    expect(ring.lines()).toEqual(['\ufffd\ufffd[\ufffd\t']);
  });

  it('P11: a flood of short lines returns no more lines than the capacity', () => {
    const ring = new LineRing(10);
    expect(ring.push(bytes('x\n'.repeat(100_000)))).toHaveLength(10);
  });
});
