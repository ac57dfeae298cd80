import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigEditError } from './config-file.ts';
import { tomlValues } from './config-text.ts';
import { setTomlKeys } from './toml-keys.ts';

describe('setTomlKeys', () => {
  it.each([
    ['', { a: 1 }, 'a = 1\n'],
    ['a = 1 # one\n', { a: 2 }, 'a = 2 # one\n'],
    ['a = 1', { b: 'x' }, 'a = 1\nb = "x"\n'],
    ['a = 1\r\n[t]\r\nb = 2\r\n', { b: true }, 'a = 1\r\nb = true\r\n[t]\r\nb = 2\r\n'],
    ['# only this\n', { a: ['x', 'y'] }, 'a = ["x", "y"]\n# only this\n'],
    ['[t]\nx = 1\n', { a: 1 }, 'a = 1\n[t]\nx = 1\n'],
    ['a = 1\nb = 2 # two\nc = 3\n', { b: null }, 'a = 1\nc = 3\n'],
    ['a = [\n  "x", # why\n  "y",\n]\nb = 1\n', { a: null }, 'b = 1\n'],
    ['a = [\n  "x",\n]\n', { b: 1 }, 'a = [\n  "x",\n]\nb = 1\n'],
    ['a = 1\n', { b: null }, 'a = 1\n'],
    ['\ufeffa = 1\n', { a: 2 }, '\ufeffa = 2\n'],
    ['"a" = 1\nodd_key = { x = 1 }\n', { a: 2 }, '"a" = 2\nodd_key = { x = 1 }\n'],
    ['a = """\nb = 1\n"""\n', { b: 2 }, 'a = """\nb = 1\n"""\nb = 2\n'],
  ])('%j with %j', (text, changes, expected) => expect(setTomlKeys(text, changes)).toBe(expected));

  it('gives up instead of changing other parts', () => {
    expect(() => setTomlKeys('a.b = 1\n', { a: 2 })).toThrow(ConfigEditError);
    expect(() => setTomlKeys('[a]\nb = 1\n', { a: 2 })).toThrow(ConfigEditError);
    expect(() => setTomlKeys('a = ', { a: 2 })).toThrow(ConfigEditError);
  });

  it.each(['\x7f', 'a\x7fb', '\0', '\t\n\r', '"\\', '\x1b[0m', '\u2028'])(
    'a value %j is escaped as TOML requires',
    (text) => {
      const edited = setTomlKeys('', { a: text, b: [text, text] });
      expect(tomlValues(edited)).toEqual({ a: text, b: [text, text] });
    },
  );

  it('any text value is read back unchanged, and all others stay', () => {
    const anyText = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary-ascii' }));
    fc.assert(
      fc.property(anyText, fc.integer(), (text, number) => {
        const edited = setTomlKeys('# top\nkeep = "x" # c\n\n[t]\nu = 1\n', { a: text, b: number });
        expect(tomlValues(edited)).toEqual({ keep: 'x', a: text, b: number, t: { u: 1 } });
        expect(setTomlKeys(edited, { a: null, b: null })).toBe('# top\nkeep = "x" # c\n\n[t]\nu = 1\n');
      }),
    );
  });
});
