import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObjectPrefix } from './json-prefix.ts';

test('every part of an object from its start is one', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), fc.boolean(), (object, at, spaced) => {
      const text = JSON.stringify(object, null, spaced ? 2 : 0);
      expect(isObjectPrefix(text.slice(0, at % (text.length + 1)))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test.each([
  '{{',
  '{"a"{',
  '{"a":1{',
  '{"a":1}{',
  '{"a":"x{"a":"x',
  '{"a" "b"',
  '{1',
  '{,',
  '{"a",',
  '{"a":,',
  '{"a":1,}',
  '{"a":[1,]',
  '{"a":]',
  '{]',
  '[1]',
  '"a"',
  'null',
])('%s is none', (text) => expect(isObjectPrefix(text)).toBe(false));
