import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fuzzing } from '../test/harness/scale.ts';
import { ConfigEditError, literal, setInConfigFile } from './config-file.ts';
import { tomlValues } from './config-text.ts';

const KEY = 'security.require_auth';
const EDITS: ReadonlyArray<[string, string, string]> = [
  ['empty text', '', '[security]\nrequire_auth = true\n'],
  ['only comments', '# hello\n\n', '# hello\n\n\n[security]\nrequire_auth = true\n'],
  ['value', '[security]\nrequire_auth = false\n', '[security]\nrequire_auth = true\n'],
  ['no final newline', '[security]\nrequire_auth = false', '[security]\nrequire_auth = true'],
  [
    'comment behind it',
    '[security] # a\n  require_auth   =   false   # why\n',
    '[security] # a\n  require_auth   =   true   # why\n',
  ],
  [
    'CRLF',
    '# x\r\n[security]\r\nrequire_auth = false\r\n\r\n[server]\r\nport=1\r\n',
    '# x\r\n[security]\r\nrequire_auth = true\r\n\r\n[server]\r\nport=1\r\n',
  ],
  [
    'mixed line ends',
    '[security]\r\nrequire_auth = false\n[server]\r\nport=1\n',
    '[security]\r\nrequire_auth = true\n[server]\r\nport=1\n',
  ],
  ['byte order mark', '\ufeff[security]\nrequire_auth = false\n', '\ufeff[security]\nrequire_auth = true\n'],
  ['wrong type before', '[security]\nrequire_auth = ["x",\n 1]\n', '[security]\nrequire_auth = true\n'],
  ['quoted names', '["security"]\n\'require_auth\' = false\n', '["security"]\n\'require_auth\' = true\n'],
  [
    'dotted at the root',
    'security.require_auth = false\nsecurity.x = 1\n',
    'security.require_auth = true\nsecurity.x = 1\n',
  ],
  [
    'inline table',
    'security = { x = 1, require_auth = false }\n',
    'security = { x = 1, require_auth = true }\n',
  ],
  [
    'missing key',
    '[security]\nx = 1 # one\n\n# about server\n[server]\nport = 1\n',
    '[security]\nx = 1 # one\nrequire_auth = true\n\n# about server\n[server]\nport = 1\n',
  ],
  [
    'missing key, indented',
    '[security]\n\tx = """\na\n"""\n[a]\n',
    '[security]\n\tx = """\na\n"""\nrequire_auth = true\n[a]\n',
  ],
  [
    'missing key, CRLF, no final newline',
    'a = 1\r\n[security]',
    'a = 1\r\n[security]\r\nrequire_auth = true',
  ],
  [
    'missing key in an empty table',
    '  [security]  # c\n[server]\n',
    '  [security]  # c\n  require_auth = true\n[server]\n',
  ],
  [
    'missing key next to dotted ones',
    'security.x = 1\na = 1\n',
    'security.x = 1\nsecurity.require_auth = true\na = 1\n',
  ],
  ['missing key in an inline table', 'security = { x = 1 }\n', 'security = { x = 1, require_auth = true }\n'],
  ['missing key in an empty inline table', 'security = {}\n', 'security = { require_auth = true }\n'],
  [
    'missing table',
    'a = 1\n[server]\nport = 1',
    'a = 1\n[server]\nport = 1\n\n[security]\nrequire_auth = true\n',
  ],
  ['missing table, CRLF', 'a = 1\r\n', 'a = 1\r\n\r\n[security]\r\nrequire_auth = true\r\n'],
  [
    'only a table below it',
    '[security.sub]\nx = 1\n',
    '[security.sub]\nx = 1\n\n[security]\nrequire_auth = true\n',
  ],
  [
    'same name in another table',
    '[other]\nrequire_auth = false\n',
    '[other]\nrequire_auth = false\n\n[security]\nrequire_auth = true\n',
  ],
  [
    'text that resembles the key',
    'x = """\n[security]\nrequire_auth = false\n"""\n',
    'x = """\n[security]\nrequire_auth = false\n"""\n\n[security]\nrequire_auth = true\n',
  ],
  [
    'dates and other types',
    'd = 1979-05-27T07:32:00Z\nn = nan\ni = -0\n',
    'd = 1979-05-27T07:32:00Z\nn = nan\ni = -0\n\n[security]\nrequire_auth = true\n',
  ],
];

test.each(EDITS)('edit: %s', (_title, before, after) => {
  expect(setInConfigFile(before, KEY, true)).toBe(after);
  expect(tomlValues(after)).toMatchObject({ security: { require_auth: true } });
});

test.each([['[[security]]\nx = 1\n'], ['security = 5\n'], ['security = [1]\n'], ['security = "x"\n']])(
  '%j is refused',
  (text) => {
    expect(() => setInConfigFile(text, KEY, true)).toThrow(ConfigEditError);
  },
);

test('refuses invalid TOML', () => {
  expect(() => setInConfigFile('a = \n', KEY, true)).toThrow(/TOML/);
});

test.each([
  [true, 'true'],
  [8080, '8080'],
  [0.5, '0.5'],
  ['a "b" \\ é', '"a \\"b\\" \\\\ é"'],
  [['a', 'b,c'], '["a", "b,c"]'],
  [[], '[]'],
] as const)('the value %j is written as %s', (value, written) => {
  expect(literal(value)).toBe(written);
  expect(tomlValues(setInConfigFile('', 'a.b', value))).toEqual({ a: { b: value } });
});

test('refuses a value that TOML cannot represent', () => {
  expect(() => setInConfigFile('', 'a.b', '\ud800')).toThrow(ConfigEditError);
});

const line = fc.constantFrom(
  '[security]',
  '[server]',
  '[security.sub]',
  'security.x = 1',
  'security = {x = 1}',
  'require_auth = false',
  'port = 1 # c',
  '# comment',
  '',
  '   ',
  'x = """\ny\n"""',
  "z = '''a'''",
  'list = [\n 1, # a\n 2,\n]',
  '[[things]]',
  'd = 2020-01-01',
  'security.require_auth=false',
);
const text = fc
  .tuple(fc.array(line, { maxLength: 9 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  .map(([lines, eol, final]) => lines.join('\n').replaceAll('\n', eol) + (final ? eol : ''));

test('property: in any file only this key changes', () => {
  let edited = 0;
  fc.assert(
    fc.property(text, (before) => {
      try {
        tomlValues(before);
      } catch {
        return;
      }
      const after = setInConfigFile(before, KEY, true);
      edited++;
      expect((tomlValues(after).security as { require_auth: unknown }).require_auth).toBe(true);
      const comments = [...before.matchAll(/#[^\r\n]*/g)].map(String);
      expect([...after.matchAll(/#[^\r\n]*/g)].map(String)).toEqual(comments);
      expect(after.replace(/\r\n/g, '').includes('\n') && before.includes('\r\n')).toBe(false);
      expect(setInConfigFile(after, KEY, true)).toBe(after);
    }),
    fuzzing('switches in config.toml', 50_000),
  );
  expect(edited).toBeGreaterThan(0);
});

test('a file of thousands of lines is edited within the time limit', () => {
  const before = `${'# comment\nkey_of_someone = "value" # more\n'.replace('key', 'k0')}`;
  const many = Array.from({ length: 3_000 }, (_, i) => before.replace('k0', `k${i}`)).join('');
  expect(setInConfigFile(many, KEY, true)).toBe(`${many}\n[security]\nrequire_auth = true\n`);
});
