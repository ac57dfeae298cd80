import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cpuTimer } from '../lib/testing/cpu-time.ts';
import { fuzzing } from '../test/harness/scale.ts';
import { MAX_CONFIG_BYTES, readConfigText } from './config-text.ts';

const read = (text: string | Uint8Array) => readConfigText(Buffer.from(text as string));

test('a valid file returns its values and its text', () => {
  const text = '\ufeff# c\r\n[security]\r\nrequire_auth = true\r\nbig = 9007199254740993\r\n';
  expect(read(text)).toEqual({
    ok: true,
    text,
    table: { security: { require_auth: true, big: 9007199254740993n } },
  });
  expect(read('')).toEqual({ ok: true, text: '', table: {} });
});

test.each<[string, string, number | null, RegExp]>([
  ['bad syntax', 'a = 1\n\nb = \n', 3, /^is not valid TOML: /],
  ['half written', '[security]\nrequire_au', 2, /^is not valid TOML: /],
  ['a key twice', 'a = 1\na = 2\n', 2, /^is not valid TOML: /],
  ['zeros after a power cut', '\0'.repeat(64), 1, /^is not valid TOML: /],
  ['too deep', `a = ${'['.repeat(100)}${']'.repeat(100)}`, 1, /TOML/],
])('reports %s with its line', (_title, text, line, message) => {
  const result = read(text);
  expect(result).toMatchObject({ ok: false, line });
  expect(result.ok || result.message).toMatch(message);
});

test('reports bytes that are not UTF-8 with their line', () => {
  const bytes = Buffer.concat([Buffer.from('a = 1\n# '), Buffer.from([0xff]), Buffer.from('\nb = 2\n')]);
  expect(readConfigText(bytes)).toEqual({ ok: false, line: 2, message: 'is not UTF-8 text' });
  const cut = Buffer.from('a = 1\n# é').subarray(0, -1);
  expect(readConfigText(cut)).toEqual({ ok: false, line: 2, message: 'is not UTF-8 text' });
});

test('a file over the cap is not parsed', () => {
  expect(readConfigText(Buffer.alloc(MAX_CONFIG_BYTES, '#')).ok).toBe(true);
  expect(readConfigText(Buffer.alloc(MAX_CONFIG_BYTES + 1, '#'))).toMatchObject({ ok: false, line: null });
});

test('stops parsing a hostile file at the time limit', () => {
  for (const text of [
    'a=[1 #',
    `a=${'['.repeat(1 << 19)}`,
    `a${'.a'.repeat(500_000)}=1`,
    'a={b={'.repeat(100_000),
  ]) {
    const cpuMs = cpuTimer();
    readConfigText(Buffer.from(text));
    expect(cpuMs()).toBeLessThan(5000);
  }
});

test('property: no input makes it throw', () => {
  const piece = fc.constantFrom(
    'a',
    '=',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '"""',
    '\n',
    '\r',
    '#',
    '.',
    ',',
    '1',
    'true',
    '\\u',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array({ maxLength: 40 }),
        fc.array(piece).map((all) => Buffer.from(all.join(''))),
      ),
      (bytes) => {
        const result = readConfigText(bytes);
        expect(result.ok || result.message.length > 0).toBe(true);
      },
    ),
    fuzzing('texts of config.toml', 100_000),
  );
});
