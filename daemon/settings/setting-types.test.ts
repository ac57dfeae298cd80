import { expect, test } from 'vitest';
import { SETTINGS } from './catalogue.ts';
import { hostName } from './host-name.ts';
import { proxyAddress } from './proxy-address.ts';
import { byteSize, list, number, origin, parseInput, table } from './setting-types.ts';

test('a list reports a rejected entry by its number, counting blank ones, and never by its text', () => {
  const entries = [' https://a.example ', '', 'geheim'];
  const reason = 'has an entry (number 3) that is not an origin like https://chat.example.com';
  expect(parseInput(list(origin), entries)).toEqual({ ok: false, reason });
  expect(list(origin).fromToml(entries)).toEqual({
    ok: true,
    value: ['https://a.example'],
    warning: `${reason}; it is ignored`,
  });
});

test.each([
  ['none is wrong', 'https://a.example,https://b.example', ['https://a.example', 'https://b.example'], null],
  ['the first', 'geheim,https://b.example', ['https://b.example'], /number 1\).*; it is ignored$/],
  ['the last', 'https://a.example, *', ['https://a.example'], /number 2\).*name each origin; it is ignored$/],
  ['null', 'null,https://a.example', ['https://a.example'], /number 1\)/],
  ['a missing scheme', 'a.example,https://b.example', ['https://b.example'], /number 1\)/],
  [
    'two',
    'geheim,https://b.example,geheim',
    ['https://b.example'],
    /number 1\).*; it and 1 more are ignored$/,
  ],
  ['all', 'geheim', [], /number 1\).*; it is ignored$/],
])('the valid entries of a list count: %s', (_, text, value, warning) => {
  for (const read of [list(origin).fromText(text), list(origin).fromToml(text.split(','))]) {
    expect(read).toMatchObject({ ok: true, value });
    const shown = read.ok ? (read.warning ?? null) : null;
    if (warning === null) expect(shown).toBeNull();
    else expect(shown).toMatch(warning);
    expect(JSON.stringify(read)).not.toContain('geheim');
  }
});

test('hosts and proxies follow the same rule', () => {
  expect(list(hostName).fromText('gw.example.com, geheim geheim')).toMatchObject({
    value: ['gw.example.com'],
    warning: expect.stringMatching(/^has an entry \(number 2\) that is not a host name such as/),
  });
  expect(list(proxyAddress).fromToml(['10.0.0.0/8', 'geheim'])).toMatchObject({
    value: ['10.0.0.0/8'],
    warning: expect.stringMatching(/^has an entry \(number 2\) that is not an address or range/),
  });
  for (const value of [1, 'https://a.example', [1]]) {
    expect(list(origin).fromToml(value)).toMatchObject({ ok: false });
    expect(parseInput(list(origin), value)).toMatchObject({ ok: false });
  }
});

test('a list drops blank entries, from the environment and from the file', () => {
  expect(list().fromText(' a, ,b ,')).toEqual({ ok: true, value: ['a', 'b'] });
  expect(list().fromToml([' a ', '', 'b'])).toEqual({ ok: true, value: ['a', 'b'] });
});

const CONTROLS = ['\0', '\x01', '\t', '\n', '\r', '\x1b', '\x1f', '\x7f'];
const saved = Object.entries(SETTINGS).filter(([, row]) => 'toml' in row);

test.each(saved)('setting %s takes no control character from a request', (_name, { type }) => {
  for (const control of CONTROLS)
    for (const value of [`a${control}b`, [`a${control}b`], [`app://a${control}b`], `https://a${control}b`])
      expect(parseInput<unknown>(type, value).ok, JSON.stringify(value)).toBe(false);
});

test.each([
  ['4 GB', 4_000_000_000],
  ['1.5 GiB', 1_610_612_736],
  ['0', 0],
  [12, 12],
])('a size is a number of bytes or a text with a unit: %j', (value, bytes) => {
  expect(byteSize(2 ** 50).fromToml(value)).toEqual({ ok: true, value: bytes });
  expect(byteSize(2 ** 50).fromText(String(value))).toEqual({ ok: true, value: bytes });
});

test.each(['4 G', 'lots', '-1', '2 TB', -1, 1.5, true, null])('a size is not %j', (value) => {
  const refused = { ok: false, reason: expect.stringContaining('must be a size such as 4 GB') };
  expect(byteSize(10 ** 12).fromToml(value)).toEqual(refused);
  expect(byteSize(10 ** 12).fromText(String(value))).toEqual(refused);
});

test('integers that JSON cannot hold are compared with the bounds', () => {
  expect(number(0, 10).fromToml(3n)).toEqual({ ok: true, value: 3 });
  expect(number(0, 10).fromToml(2n ** 60n)).toEqual({ ok: false, reason: 'must be from 0 to 10' });
  expect(byteSize(100).fromToml(100n)).toEqual({ ok: true, value: 100 });
  expect(byteSize(100).fromToml(2n ** 60n)).toMatchObject({ ok: false });
});

test.each([
  ['app://Obsidian.md/vault', 'app://obsidian.md'],
  ['HTTPS://A.example:8443/x', 'https://a.example:8443'],
])('the origin of %s is %s', (entry, value) => {
  expect(origin(entry)).toEqual({ ok: true, value });
});
test.each(['http://a:99999', 'https://[::1'])('%s is not a valid origin', (entry) => {
  expect(origin(entry)).toEqual({ ok: false, reason: 'is not a valid origin' });
});

const sizes = table('table of sizes', (value) =>
  typeof value === 'number' ? { ok: true, value } : { ok: false, reason: 'must be a number' },
);
const LONG = 'n'.repeat(257);

test.each([
  ['none is wrong', { a: 1, b: 2 }, { a: 1, b: 2 }, null],
  ['one', { a: 1, b: 'x' }, { a: 1 }, '"b" must be a number; it is ignored'],
  ['three', { a: 'x', b: 2, c: 'x', d: 'x' }, { b: 2 }, '"a" must be a number; it and 2 more are ignored'],
  ['a blank name', { ' ': 1 }, {}, '" " must have a name of 1 to 256 characters; it is ignored'],
  ['a control character', { 'a\n': 1 }, {}, '"a\\n" must have a name of 1 to 256 characters; it is ignored'],
  [
    'a long name',
    { [LONG]: 1 },
    {},
    `"${LONG.slice(0, 80)}" must have a name of 1 to 256 characters; it is ignored`,
  ],
])(
  'the valid entries of a table count, and input with a wrong one is refused: %s',
  (_, entries, value, warning) => {
    expect(sizes.fromToml(entries)).toEqual({ ok: true, value, ...(warning !== null && { warning }) });
    const input = parseInput(sizes, entries);
    if (warning === null) expect(input).toEqual({ ok: true, value });
    else expect(input).toEqual({ ok: false, reason: warning.replace(/; it .*/, '') });
  },
);

test.each([
  [[1], 'must be a table'],
  [new Date(0), 'must be a table'],
  [null, 'must be a table'],
  [
    Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`n${n}`, 1])),
    'must have at most 1000 entries',
  ],
])('what is not a table within the bounds is refused', (value, reason) => {
  expect(sizes.fromToml(value)).toEqual({ ok: false, reason });
  expect(parseInput(sizes, value)).toEqual({ ok: false, reason });
});

test.each([
  ['Minio.LAN:9000', 'minio.lan:9000'],
  ['[FE80::1]:9000', '[fe80::1]:9000'],
  ['storage', 'storage'],
])('the storage %s is %s', (entry, host) => {
  const { type } = SETTINGS.hubStorageHosts;
  expect(type.fromText(entry)).toEqual({ ok: true, value: [host] });
});
test.each(['https://minio.lan', 'minio.lan:123456', 'a b', 'user@host'])('%s is not a storage', (entry) => {
  expect(SETTINGS.hubStorageHosts.type.fromText(entry)).toMatchObject({
    value: [],
    warning: expect.stringContaining('is not a host such as minio.lan:9000'),
  });
});
