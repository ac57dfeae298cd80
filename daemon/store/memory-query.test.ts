import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyText } from '../test/harness/any-text.ts';
import { searchExpression, separateUnspaced } from './memory-query.ts';
import { memoryDb } from './testing.ts';

test.each([
  ['coffee at noon', '"coffee"* OR "at"* OR "noon"*'],
  ['coffee COFFEE coffee', '"coffee"* OR "COFFEE"*'],
  ['"; DROP TABLE memories; --', '"DROP"* OR "TABLE"* OR "memories"*'],
  ['text: a* NEAR(b, 2) ^c -d', '"text"* OR "a"* OR "NEAR"* OR "b"* OR "2"* OR "c"* OR "d"*'],
  ['東京タワー', '"東  京  タ  ワ ー"'],
])('%s', (query, expression) => {
  expect(searchExpression(query)).toBe(expression);
});

test('a query without words searches nothing', () => {
  for (const query of ['', '   ', '"*^:()', '\u0000']) expect(searchExpression(query)).toBeNull();
});

test('the number of words is bounded', () => {
  const query = Array.from({ length: 1_000 }, (_, i) => `w${i}`).join(' ');
  expect(searchExpression(query)?.split(' OR ')).toHaveLength(32);
});

test('separates characters of unspaced scripts, and no others', () => {
  expect(separateUnspaced('in 東京 today')).toBe('in  東  京  today');
  expect(separateUnspaced('grüße')).toBe('grüße');
});

test('no query text causes a syntax error', () => {
  const { db } = memoryDb();
  const search = db.prepare('SELECT count(*) FROM memory_words WHERE memory_words MATCH ?');
  fc.assert(
    fc.property(anyText(60), (text) => {
      const expression = searchExpression(text);
      if (expression !== null) search.get(expression);
    }),
    { numRuns: 2_000 },
  );
});
