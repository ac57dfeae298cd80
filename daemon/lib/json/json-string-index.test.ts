import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzing } from '../../test/harness/scale.ts';
import { BodyBuffer } from '../perf/body-buffer.ts';
import { accepts, parses } from './fixtures/json-verdicts.ts';
import { stringIndexOf } from './json-string-index.ts';

const CLAIMED = 1 << 20;

/** Builds the text from chunks, split at these offsets. */
function chunked(text: string, cuts: readonly number[]): Buffer {
  const whole = Buffer.from(text);
  const body = new BodyBuffer(CLAIMED);
  const offsets = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort((one, two) => one - two);
  let from = 0;
  for (const to of [...offsets, whole.length]) {
    if (to > from) body.push(Buffer.from(whole.subarray(from, to)));
    from = to;
  }
  return body.take();
}

/** Returns the end of the string that starts at `start`, if it is indexed. */
function endOf(bytes: Buffer, start: number): number | undefined {
  const long = stringIndexOf(bytes);
  for (let index = 0; index < (long?.length ?? 0); index++)
    if (long?.start(index) === start) return long.end(index);
  return undefined;
}

/** Returns every string of a JSON text by its start. */
function stringsOf(bytes: Buffer): Map<number, number> {
  const ends = new Map<number, number>();
  for (let at = bytes.indexOf('"'); at >= 0; at = bytes.indexOf('"', ends.get(at))) {
    let end = at + 1;
    while (bytes[end] !== 0x22) end += bytes[end] === 0x5c ? 2 : 1;
    ends.set(at, end + 1);
  }
  return ends;
}

const run = fc
  .tuple(fc.nat(2_500), fc.constantFrom('', '\\\\', '\\"', '\\n', '\\u00e9', 'é', '😀', '","', ' '))
  .map(([length, end]) => 'a'.repeat(length) + end);
const invalid = fc.constantFrom('', '', '', '\\x', '\\u12g4', '\n', '"', '\\', '\0');
const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe('long strings of a body in chunks', () => {
  test('for any chunk boundaries the same texts are accepted and each indexed string has the correct end', () => {
    let known = 0;
    let long = 0;
    fc.assert(
      fc.property(
        fc.array(run, { maxLength: 20 }),
        fc.nat(20),
        invalid,
        cuts,
        (runs, position, bad, cutAt) => {
          const text = `{"model":"m","list":["${runs.toSpliced(position, 0, bad).join('')}"]}`;
          const bytes = chunked(text, cutAt);
          expect(bytes.toString()).toBe(text);
          expect(accepts(bytes)).toBe(parses(text));
          if (!parses(text)) return;
          for (const [start, end] of stringsOf(bytes)) {
            const indexedEnd = endOf(bytes, start);
            if (end - start >= 4 * 1024) long++;
            if (indexedEnd === undefined) continue;
            known++;
            expect(indexedEnd).toBe(end);
          }
        },
      ),
      fuzzing('cut JSON texts', 20_000),
    );
    expect(known).toBe(long);
    expect(known).toBeGreaterThan(20);
  });

  test('reads a split escape when the rest has arrived', () => {
    const text = `["${'b'.repeat(5_000)}\\u00e9\\n"]`;
    for (let cut = text.length - 14; cut < text.length; cut++) {
      const bytes = chunked(text, [cut, cut + 1]);
      expect([cut, endOf(bytes, 1)]).toEqual([cut, text.length - 1]);
    }
  });

  test('stops indexing a text of short strings after a while', () => {
    const short = `"${'c'.repeat(100)}",`.repeat(2_000);
    const late = `[${short}"${'d'.repeat(50_000)}"]`;
    const bytes = chunked(
      late,
      Array.from({ length: 40 }, (_, index) => index * 6_000),
    );
    expect(endOf(bytes, late.indexOf('"d'))).toBeUndefined();
    expect(accepts(bytes)).toBe(true);
  });

  test('stops indexing at an invalid string', () => {
    const long = 'e'.repeat(5_000);
    const text = `["${long}","\\x${long}","${long}"]`;
    const bytes = chunked(text, []);
    const known = [1, 5_004, 10_009].map((start) => endOf(bytes, start));
    expect(known).toEqual([5_003, undefined, undefined]);
    expect(accepts(bytes)).toBe(false);
  });

  test('does not index a short body', () => {
    const body = new BodyBuffer(1_000);
    body.push(Buffer.from('["x"]'));
    expect(stringIndexOf(body.take())).toBeUndefined();
  });
});
