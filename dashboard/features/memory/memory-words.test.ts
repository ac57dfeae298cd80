import { describe, expect, it, test } from 'vitest';
import type { SettingRow } from '../../../daemon/contract/system.ts';
import { classSentence, tagsOf } from './memory-words.ts';

test.each([
  ['', []],
  [' a, b ,,a', ['a', 'b']],
])('tags of %j', (text, tags) => expect(tagsOf(text)).toEqual(tags));

describe('access to notes', () => {
  const rows = (of: string, guard: boolean) =>
    [
      { toml: 'security.memory_class', value: of },
      { toml: 'security.guard_remote_admin', value: guard },
    ] as SettingRow[];

  it.each([
    ['admin', true, true, /needs the admin key\.$/],
    ['client', true, true, /^Reading and adding notes needs the client key/],
    ['admin', true, false, /^No key is required on this machine\. Other machines need the admin key/],
    ['client', true, false, /^No key is required to read and add/],
    ['admin', false, false, /^No key is required: anyone who can connect/],
  ])('class %s, guard %s, keys %s', (of, guard, required, sentence) =>
    expect(classSentence(rows(of, guard), required)).toMatch(sentence),
  );

  it('returns null until the settings are loaded', () => {
    expect(classSentence(undefined, true)).toBeNull();
    expect(classSentence(rows('admin', true), undefined)).toBeNull();
  });
});
