import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fuzzing } from '../../test/harness/scale.ts';
import { cpuTimer } from '../testing/cpu-time.ts';
import { ByteScanner, stringAt } from './byte-scanner.ts';
import { accepts, parses } from './fixtures/json-verdicts.ts';

describe('byte scanner against JSON.parse', () => {
  test('accepts every text of JSON.stringify, for any alignment', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.nat(3), fc.nat(4), (value, shift, indent) => {
        const text = JSON.stringify(value, null, indent);
        const padded = Buffer.from(' '.repeat(shift) + text).subarray(shift);
        expect(accepts(padded)).toBe(true);
      }),
      fuzzing('JSON texts', 200_000),
    );
  });

  test('agrees on broken texts: one byte changed, removed or doubled', () => {
    const damage = fc.constantFrom(...'{}[]",:\\0-1.eEtu \n\t\0\x1f/abx');
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 4 }),
        fc.nat(),
        damage,
        fc.nat(2),
        (value, position, letter, how) => {
          const text = JSON.stringify(value);
          const at = position % text.length;
          const broken = text.slice(0, at) + letter.repeat(how) + text.slice(at + (how === 2 ? 0 : 1));
          expect(accepts(Buffer.from(broken))).toBe(parses(Buffer.from(broken).toString()));
        },
      ),
      fuzzing('broken JSON texts', 300_000),
    );
  });

  test('refuses a text that ends within a string or an escape', () => {
    const text = '["aé\\n\\u00e9"]';
    for (let end = 0; end < text.length; end++)
      expect([end, accepts(Buffer.from(text.slice(0, end)))]).toEqual([end, false]);
    expect(accepts(Buffer.from(text))).toBe(true);
  });

  test('agrees inside long strings at every offset of the word loop', () => {
    for (const bad of [
      '\n',
      '\0',
      '\x1f',
      '"',
      '\\',
      '\\x',
      '\\u12g4',
      '\\u1234',
      '\\"',
      '\x7f',
      'é',
      '€',
      '😀',
    ]) {
      for (let lead = 0; lead < 48; lead++) {
        const text = `["${'a'.repeat(lead)}${bad}${'b'.repeat(41)}"]`;
        expect([lead, bad, accepts(Buffer.from(text))]).toEqual([lead, bad, parses(text)]);
      }
    }
  });

  test.each([
    '',
    ' ',
    '{',
    '}',
    '[1,]',
    '{"a":1,}',
    '{,}',
    '01',
    '-',
    '1.',
    '.5',
    '1e',
    '+1',
    'tru',
    'nul',
    '{"a" 1}',
    '"',
    '[1 2]',
    '1 1',
    "{'a':1}",
  ])('agrees on %j', (text) => {
    expect(accepts(Buffer.from(text))).toBe(parses(text));
  });

  test('refuses a byte order mark, UTF-16 and invalid UTF-8', () => {
    expect(accepts(Buffer.from('\ufeff{}'))).toBe(false);
    expect(accepts(Buffer.from('{}', 'utf16le'))).toBe(false);
    expect(accepts(Buffer.from([0x22, 0xff, 0x22]))).toBe(false);
    expect(accepts(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toBe(false);
  });
});

describe('bounds', () => {
  test('accepts depth 64, refuses depth 65 and 100,000', () => {
    const nested = (depth: number) => Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    expect(accepts(nested(64))).toBe(true);
    expect(accepts(nested(65))).toBe(false);
    expect(accepts(nested(100_000))).toBe(false);
  });

  test('refuses a million keys', () => {
    const keys = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":0`).join(',');
    expect(accepts(Buffer.from(`{${keys}}`))).toBe(false);
  });

  test('is linear: a string of 32 MB without escapes is read in seconds at most', () => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(32 << 20, 0x61), Buffer.from('"}')]);
    const cpuMs = cpuTimer();
    expect(accepts(body)).toBe(true);
    expect(cpuMs()).toBeLessThan(2000);
  });
});

test('reports members with their ranges', () => {
  const bytes = Buffer.from(' { "a" : [1, 2] ,"b\\u0063":"x" } ');
  const scanner = new ByteScanner(bytes);
  const members: [string, string, number][] = [];
  scanner.object({
    member(before, keyStart, keyEnd) {
      const start = scanner.at;
      scanner.value();
      const key = stringAt(bytes, { start: keyStart, end: keyEnd });
      members.push([key, bytes.toString('utf8', start, scanner.at), before]);
    },
  });
  scanner.end();
  expect(members).toEqual([
    ['a', '[1, 2]', 2],
    ['bc', '"x"', 17],
  ]);
});
