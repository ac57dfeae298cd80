import { expect, test } from 'vitest';
import { Purpose } from '../contract/catalog.ts';
import { CATALOG, CATALOG_DATE, estimateHeader, pullName, typeOf } from './catalog.ts';
import { isRepoName } from './pulls/hub-names.ts';

test('every entry names a pullable repository once, and every purpose has one', () => {
  expect(CATALOG.filter(({ repo }) => !isRepoName(repo))).toEqual([]);
  expect(new Set(CATALOG.map(pullName)).size).toBe(CATALOG.length);
  expect(Purpose.options.filter((purpose) => !CATALOG.some((one) => one.purpose === purpose))).toEqual([]);
  expect(Number.isNaN(Date.parse(CATALOG_DATE))).toBe(false);
});

test('the numbers of an entry match its header', () => {
  const llama = CATALOG.find(({ name }) => name === 'Llama 3.1 8B');
  expect(llama && estimateHeader(llama)).toEqual({
    sizeBytes: 4_920_000_000,
    contextTrain: 131_072,
    kvBytesPerToken: 131_072,
    embedding: 4096,
  });
  expect(CATALOG.filter((one) => typeOf(one) === 'llm' && estimateHeader(one).kvBytesPerToken === 0)).toEqual(
    [],
  );
});
