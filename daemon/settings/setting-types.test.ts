import { expect, test } from 'vitest';
import { SETTINGS } from './catalogue.ts';
import { hostName } from './host-name.ts';
import { list, origin } from './setting-types.ts';

test('a list reports a refused entry by its number, counting blank ones, and never by its text', () => {
  const read = list(origin).fromToml([' https://a.example ', '', 'geheim']);
  expect(read).toEqual({
    ok: false,
    reason: 'has an entry (number 3) that is not an origin like https://chat.example.com',
  });
  expect(list(hostName).fromText('gw.example.com, geheim geheim')).toMatchObject({
    reason: expect.stringMatching(/^has an entry \(number 2\) that is not a host name such as/),
  });
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
      expect(type.fromToml(value).ok, JSON.stringify(value)).toBe(false);
});
