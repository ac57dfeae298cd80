import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fuzzing } from '../test/harness/scale.ts';
import { ConfigEditError, setInConfigFile } from './config-file.ts';
import { tomlValues } from './config-text.ts';
import { removeKey, setRootKey } from './root-keys.ts';

describe('setRootKey', () => {
  it.each([
    ['no text', '', 'model = "b"\n'],
    ['only comments', '# mine\n', '# mine\nmodel = "b"\n'],
    ['no final newline', '# mine', '# mine\nmodel = "b"\n'],
    ['a value', 'type = "llm"\nmodel   =  "a" # why\n', 'type = "llm"\nmodel   =  "b" # why\n'],
    ['a missing key', 'type = "llm" # one\n\n# two\n', 'type = "llm" # one\nmodel = "b"\n\n# two\n'],
    ['CRLF', 'a = 1\r\n', 'a = 1\r\nmodel = "b"\r\n'],
    ['a byte order mark', '\ufeffa = 1\n', '\ufeffa = 1\nmodel = "b"\n'],
    ['keys before a table', 'a = 1\n[voice]\nspeed = 1\n', 'a = 1\nmodel = "b"\n[voice]\nspeed = 1\n'],
    [
      'nothing but a table',
      '# file\n\n# about voice\n[voice]\nmodel = 1\n',
      '# file\n\nmodel = "b"\n\n# about voice\n[voice]\nmodel = 1\n',
    ],
    ['a quoted name', '"model" = \'a\'\n', '"model" = "b"\n'],
    ['a value over lines', 'model = """\na\n""" # x\nb = 2\n', 'model = "b" # x\nb = 2\n'],
    ['unknown keys', 'later = { a = [1, 2] }\n', 'later = { a = [1, 2] }\nmodel = "b"\n'],
  ])('%s', (_, before, after) => expect(setRootKey(before, 'model', 'b')).toBe(after));

  it('refuses an edit that would change something else', () => {
    expect(() => setRootKey('[model]\nx = 1\n', 'model', 'b')).toThrow(ConfigEditError);
  });
});

describe('removeKey', () => {
  it.each([
    ['a key', 'a = 1\nmodel = "x"\nb = 2\n', 'a = 1\nb = 2\n'],
    ['its comment stays', 'model = "x" # why\nb = 2\n', '# why\nb = 2\n'],
    ['over lines', 'model = [\n 1,\n]\nb = 2\n', 'b = 2\n'],
    ['the last one', 'model = 1', ''],
    [
      'a table',
      'a = 1\n[model] # m\n# in it\nx = 1\ny = 2\n[other]\nx = 1\n',
      'a = 1\n# m\n# in it\n[other]\nx = 1\n',
    ],
    ['an inline table', 'model = { x = 1 }\na = 1\n', 'a = 1\n'],
    ['dotted keys', 'model.x = 1\na = 1\nmodel.y = 2\n', 'a = 1\n'],
    ['a missing one', '# nothing\n', '# nothing\n'],
  ])('%s', (_, before, after) => expect(removeKey(before, 'model')).toBe(after));

  it.each([
    ['in a table', '[voice]\nspeed = 1 # s\nvoice = "a"\n', '[voice]\n# s\nvoice = "a"\n'],
    ['in an inline table', 'voice = { speed = 1, voice = "a" } # v\n', 'voice = { voice = "a" } # v\n'],
    ['dotted', 'voice.speed = 1\nvoice.voice = "a"\n', 'voice.voice = "a"\n'],
    ['the last one of a table', 'a = 1\n[voice]\nspeed = 1\n', 'a = 1\n'],
    ['a missing one', '[voice]\nvoice = "a"\n', '[voice]\nvoice = "a"\n'],
  ])('a key %s', (_, before, after) => expect(removeKey(before, 'voice', 'speed')).toBe(after));
});

it('for any text exactly one key changes, and every comment stays', () => {
  const comment = fc.stringMatching(/^[a-z ]{0,12}$/).map((text) => `# ${text}`);
  const value = fc.oneof(
    fc.constantFrom('1', 'true', '"x # y"', "'q'", '[1,\n 2]', '{ x = 1 }', '"""\na\n"""'),
  );
  const pair = fc.tuple(fc.constantFrom('a', 'b', 'model', '"c d"', 'e.f'), value, fc.option(comment));
  const line = fc.oneof(
    comment,
    fc.constant(''),
    pair.map(([key, text, behind]) => `${key} = ${text}${behind ? ` ${behind}` : ''}`),
  );
  const body = fc
    .tuple(fc.array(line), fc.array(line), fc.constantFrom('\n', '\r\n'))
    .map(([root, table, eol]) => [...root, '[table]', ...table].join('\n').replaceAll('\n', eol));
  const comments = (text: string) =>
    text
      .split(/\r?\n/)
      .map((each) => /# [a-z ]*$/.exec(each)?.[0])
      .filter(Boolean);
  fc.assert(
    fc.property(body, fc.constantFrom('model', 'a', 'new'), (text, key) => {
      let before: Record<string, unknown>;
      try {
        before = tomlValues(text);
      } catch {
        return;
      }
      const set = setRootKey(text, key, 'v');
      expect(tomlValues(set)).toEqual({ ...before, [key]: 'v' });
      expect(comments(set)).toEqual(comments(text));
      const removed = removeKey(set, key);
      const { [key]: _, ...rest } = before;
      expect(tomlValues(removed)).toEqual(rest);
      expect(comments(removed)).toEqual(comments(text));
      const { x: _x, ...table } = { ...(before.table as object), x: 1 };
      expect(tomlValues(setInConfigFile(text, 'table.x', 1)).table).toEqual({ ...table, x: 1 });
    }),
    fuzzing('keys of TOML files', 50_000),
  );
});
