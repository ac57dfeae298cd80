import { expect, it } from 'vitest';
import { rerankLacks, rerankRequest } from './rerank-request.ts';

const form = { query: ' who? ', documents: 'a\n\n b ', topN: '' };

it('sends the query and the non-empty lines', () => {
  expect(rerankRequest(form, null)).toEqual({ model: 'rerank', query: 'who?', documents: ['a', 'b'] });
  expect(rerankRequest({ ...form, topN: '3' }, 'judge')).toMatchObject({ model: 'judge', top_n: 3 });
});

it.each([
  [{}, null],
  [{ query: ' ' }, 'Enter a query.'],
  [{ documents: '\n \n' }, 'Enter at least one document.'],
  [{ documents: 'a\n'.repeat(200) }, null],
  [{ documents: 'a\n'.repeat(201) }, 'This page ranks at most 200 documents.'],
  [{ topN: '0' }, 'Number of results must be a whole number from 1 to 200.'],
  [{ topN: '200' }, null],
])('case %# reports the missing input', (over, lacks) =>
  expect(rerankLacks({ ...form, ...over })).toBe(lacks),
);
