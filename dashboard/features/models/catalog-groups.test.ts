import { expect, test } from 'vitest';
import type { CatalogView } from '../../../daemon/contract/catalog.ts';
import { catalogGroups, memoryKinds, unverifiedWords } from './catalog-groups.ts';

type Entry = CatalogView['entries'][number];
const entry = (name: string, purpose: Entry['purpose'], memory: Entry['memory']): Entry =>
  ({ name, purpose, memory, unverified: [] }) as unknown as Entry;

test('text models are grouped by the smallest memory that holds them, the others by purpose', () => {
  const groups = catalogGroups([
    entry('large', 'chat', ['24', '16', 'cpu']),
    entry('voice', 'speaking', ['any']),
    entry('coder', 'coding', ['16']),
    entry('tiny', 'small', ['any', 'cpu']),
  ]);
  expect(groups.map(({ word, entries }) => [word, entries.map(({ name }) => name)])).toEqual([
    ['Text models for any memory', ['tiny']],
    ['Text models for 16 GB', ['large', 'coder']],
    ['Text to speech', ['voice']],
  ]);
});

test('names further kinds of memory, and what is not verified', () => {
  const one = { ...entry('a', 'chat', ['96', 'cpu', 'unified']), unverified: ['size', 'licence'] } as Entry;
  expect(memoryKinds(one)).toEqual(['CPU', 'unified memory']);
  expect(unverifiedWords(one)).toBe('Not verified: size, licence.');
  expect(unverifiedWords({ ...one, unverified: [] })).toBe('');
});
