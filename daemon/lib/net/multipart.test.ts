import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzing } from '../../test/harness/scale.ts';
import { boundaryOf, dispositionOf, MultipartScanner } from './multipart.ts';

interface Part {
  name: string | null;
  filename: string | null;
  bytes: string;
  whole: boolean;
}

function read(bytes: Buffer, cuts: readonly number[] = [], boundary = 'xyz'): Part[] {
  const parts: Part[] = [];
  const scanner = new MultipartScanner(boundary, {
    part: (head) => void parts.push({ ...dispositionOf(head), bytes: '', whole: false }),
    data: (data) => {
      expect(data.length).toBeGreaterThan(0);
      (parts.at(-1) as Part).bytes += data.toString('latin1');
    },
    end: () => {
      (parts.at(-1) as Part).whole = true;
    },
  });
  let at = 0;
  for (const cut of [...cuts, bytes.length].sort((a, b) => a - b)) {
    const chunk = new Uint8Array(bytes.subarray(at, cut));
    scanner.push(Buffer.from(chunk.buffer));
    // The caller may detach the chunk at once.
    chunk.buffer.transfer(0);
    at = cut;
  }
  return parts;
}

const part = (name: string, value: string, more = '') =>
  `--xyz\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
const form = (...parts: string[]) => Buffer.from(`${parts.join('')}--xyz--\r\n`, 'latin1');
const field = (name: string, bytes: string): Part => ({ name, filename: null, bytes, whole: true });

describe('MultipartScanner', () => {
  test('fields and files, in order', () => {
    const file = part('file', 'RIFF\0\r\n\r\n--xy', '; filename="a b.wav"\r\nContent-Type: audio/wav');
    expect(read(form(part('model', 'm'), file, part('empty', '')))).toEqual([
      field('model', 'm'),
      { name: 'file', filename: 'a b.wav', bytes: 'RIFF\0\r\n\r\n--xy', whole: true },
      field('empty', ''),
    ]);
  });

  test('returns any values, for any chunk boundaries', () => {
    const value = fc.string({ unit: fc.constantFrom('\r', '\n', '-', 'x', 'y', 'z', 'a'), maxLength: 24 });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), fc.array(fc.nat(400)), (values, cuts) => {
        fc.pre(values.every((each) => !`\r\n${each}`.includes('\r\n--xyz')));
        const bytes = form(...values.map((each, index) => part(`f${index}`, each)));
        const inside = cuts.filter((cut) => cut < bytes.length);
        expect(read(bytes, inside)).toEqual(values.map((each, index) => field(`f${index}`, each)));
      }),
      fuzzing('values of forms', 50_000),
    );
  });

  test('byte by byte', () => {
    const bytes = form(part('model', 'm'), part('file', '\r\n--xy\r\n', '; filename=x'));
    const every = Array.from({ length: bytes.length }, (_, at) => at);
    expect(read(bytes, every)).toEqual(read(bytes));
  });

  test('ignores text before the first part and after the last one', () => {
    const bytes = Buffer.concat([
      Buffer.from('hello\r\n'),
      form(part('a', 'b')),
      Buffer.from(part('c', 'd')),
    ]);
    expect(read(bytes)).toEqual([field('a', 'b')]);
  });

  test('a part without a line end before the delimiter', () => {
    const bytes = Buffer.from('--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\n--xyz--');
    expect(read(bytes)).toEqual([field('a', '')]);
  });

  test.each([
    ['truncated in a part head', '--xyz\r\nContent-Dis', 0],
    ['truncated in a part body', '--xyz\r\nContent-Disposition: form-data; name="a"\r\n\r\nwhis', 1],
    ['another boundary', '--abc\r\n\r\n', 0],
    ['a head that is too long', `--xyz\r\n${'x'.repeat(9_000)}\r\n\r\na\r\n--xyz--`, 0],
  ])('%s', (_, text, parts) => {
    const found = read(Buffer.from(text));
    expect(found).toHaveLength(parts);
    expect(found.every(({ whole }) => !whole)).toBe(true);
  });

  test('parts are bounded', () => {
    expect(read(form(...Array.from({ length: 70 }, () => part('a', 'b'))))).toHaveLength(64);
  });

  test('no input crashes it', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300)), (noise, cuts) => {
        const bytes = Buffer.concat([Buffer.from('--xyz\r\n'), noise, Buffer.from('\r\n--xyz--')]);
        read(
          bytes,
          cuts.filter((cut) => cut < bytes.length),
        );
      }),
      fuzzing('bytes of forms', 100_000),
    );
  });
});

test.each([
  ['multipart/form-data; boundary=xyz', 'xyz'],
  ['Multipart/Form-Data; charset=utf-8; boundary="x y"', 'x y'],
  ['multipart/form-data', null],
  ['multipart/mixed; boundary=xyz', null],
  ['application/json', null],
  ['', null],
])('%j has the boundary %j', (type, boundary) => expect(boundaryOf(type)).toBe(boundary));

test.each([
  ['form-data; name="a"; filename="b.wav"', 'a', 'b.wav'],
  ['form-data; filename="name=x"; name=a', 'a', 'name=x'],
  ['form-data; filename="; name=model;"; name="file"', 'file', '; name=model;'],
  ['form-data; name="a\\"b"; filename="c\\\\d"', 'a"b', 'c\\d'],
  ['form-data; xname="a"', null, null],
  ['form-data', null, null],
])('%j', (line, name, filename) => {
  expect(dispositionOf(new Map([['content-disposition', line]]))).toEqual({ name, filename });
});
