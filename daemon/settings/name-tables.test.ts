import { expect, test } from 'vitest';
import { evaluateConfig } from './config-layer.ts';
import { tomlValues } from './config-text.ts';
import { aliasTable, presetTable } from './name-tables.ts';
import { setTableInConfigFile } from './table-edit.ts';

const read = (text: string) =>
  evaluateConfig(
    { kind: 'bytes', bytes: Buffer.from(text), mode: 0o600, uid: 0 },
    { lastGood: null, enforced: false },
  );

test('reads aliases and presets', () => {
  const { values, problems } = read(`
[aliases]
"gpt-4o" = "agent"
"claude-*" = " agent "
[presets.writer]
model = "agent"
set = { temperature = 0.2, stop = ["a"] }
strip = ["seed"]
system = "Write."
`);
  expect(problems).toEqual([]);
  expect(values.get('aliases')).toEqual({ 'gpt-4o': 'agent', 'claude-*': 'agent' });
  expect(values.get('presets')).toEqual({
    writer: {
      ...{ model: 'agent', set: { temperature: 0.2, stop: ['a'] }, default: {} },
      ...{ strip: ['seed'], system: 'Write.' },
    },
  });
});

test.each([
  ['aliases = 3', 'aliases must be a table; {} is used'],
  [
    '[aliases]\nx = 3\ny = "agent"',
    'aliases "x" must be the name of a model or slot in quotes; it is ignored',
  ],
  ['[presets]\nx = "agent"', 'presets "x" must be a table with a model; it is ignored'],
  ['[presets.x]\nset = {}', 'presets "x" needs model, the name of a model or slot in quotes; it is ignored'],
  ['[presets.x]\nmodel = "a"\nsets = {}', 'presets "x" has the unknown key "sets"; it is ignored'],
  [
    '[presets.x]\nmodel = "a"\nset = { messages = [] }',
    'presets "x" cannot change the field "messages"; it is ignored',
  ],
  [
    '[presets.x]\nmodel = "a"\nset = { t = 2020-01-01 }',
    'presets "x" has a set that is not a table of JSON values; it is ignored',
  ],
  [
    '[presets.x]\nmodel = "a"\nset = 3',
    'presets "x" has a set that is not a table of JSON values; it is ignored',
  ],
  [
    '[presets.x]\nmodel = "a"\nset = { t = [1, nan] }',
    'presets "x" has a set that is not a table of JSON values; it is ignored',
  ],
  [
    '[presets.x]\nmodel = "a"\ndefault = { t = [1, { u = 2020-01-01 }] }',
    'presets "x" has a default that is not a table of JSON values; it is ignored',
  ],
  [
    '[presets.x]\nmodel = "a"\nsystem = 3',
    'presets "x" has a system that is not a text of at most 100000 characters; it is ignored',
  ],
  [
    '[presets.x]\nmodel = "a"\nset = { t = nan }',
    'presets "x" has a set that is not a table of JSON values; it is ignored',
  ],
  [
    '[presets.x]\nmodel = "a"\nstrip = [1]',
    'presets "x" has a strip that is not a list of field names; it is ignored',
  ],
])('%s: says what is wrong, with a line', (text, message) => {
  expect(read(text).problems).toEqual([{ file: 'config.toml', line: 1, message }]);
});

test('the other entries of a table count', () => {
  expect(read('[aliases]\nx = 3\ny = "agent"').values.get('aliases')).toEqual({ y: 'agent' });
});

const edited = (text: string, wanted: Record<string, string>) =>
  setTableInConfigFile(text, 'aliases', wanted, (entries) => {
    const parsed = aliasTable.fromToml(entries);
    return parsed.ok ? parsed.value : {};
  });

test('a table is changed entry by entry', () => {
  const text = '# mine\n[aliases]\n"a b" = "one" # why\nold = "two"\n[server]\nport = 1\n';
  expect(edited(text, { 'a b': 'one', 'claude-*': 'agent' })).toBe(
    '# mine\n[aliases]\n"a b" = "one" # why\n"claude-*" = "agent"\n[server]\nport = 1\n',
  );
  expect(tomlValues(edited(text, {}))).toEqual({ server: { port: 1 } });
  expect(edited('', { 'gpt-4.1': 'agent' })).toBe('[aliases]\n"gpt-4.1" = "agent"\n');
});

test('a preset is written without what is empty', () => {
  const wanted = { w: { model: 'agent', set: { a: { b: 1 } }, default: {}, strip: [], system: '' } };
  const text = setTableInConfigFile('', 'presets', wanted, () => ({}));
  expect(text).toBe('[presets]\nw = { model = "agent", set = { a = { b = 1 } } }\n');
  expect(presetTable.fromToml(tomlValues(text).presets)).toEqual({ ok: true, value: wanted });
});
