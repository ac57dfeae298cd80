import { expect, test } from 'vitest';
import { SLOT_KEYS } from '../../contract/slot-keys.ts';
import { SlotFile } from './slot-file.ts';
import { DEFAULTS_IN_WORDS, FILE_ONLY_KEYS } from './slot-file-keys.ts';

test('describes every key of the schema once', () => {
  const settable = new Set(Object.keys(SLOT_KEYS).map((key) => key.split('.')[0] as string));
  const described = [...settable, ...Object.keys(FILE_ONLY_KEYS)].sort();
  expect(described).toEqual(Object.keys(SlotFile.shape).sort());
});

test('only existing keys have described defaults', () => {
  for (const key of Object.keys(DEFAULTS_IN_WORDS)) expect(Object.keys(SlotFile.shape)).toContain(key);
});
