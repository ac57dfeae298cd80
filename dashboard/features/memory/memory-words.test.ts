import { expect, test } from 'vitest';
import type { SettingRow } from '../../../daemon/contract/system.ts';
import { classSentence, tagsOf } from './memory-words.ts';

test.each([
  ['', []],
  [' a, b ,,a', ['a', 'b']],
])('tags of %j', (text, tags) => expect(tagsOf(text)).toEqual(tags));

test('the class says who may do what, and nothing before it is known', () => {
  const row = (value: string) => [{ toml: 'security.memory_class', value } as SettingRow];
  expect(classSentence(row('admin'))).toMatch(/^Only the admin key/);
  expect(classSentence(row('client'))).toMatch(/^Every holder of the client key/);
  expect(classSentence(undefined)).toBeNull();
});
