import { expect, test } from 'vitest';
import type { ModelFitView } from '../../../daemon/contract/catalog.ts';
import { fitLook } from './fit-look.ts';

const GIB = 1024 ** 3;
const told = (badge: ModelFitView['badge'], over: Partial<ModelFitView> = {}): ModelFitView => ({
  badge,
  context: 8192,
  evicts: [],
  needed: 5 * GIB,
  free: 12 * GIB,
  pool: 'host',
  ...over,
});

test.each([
  [told('fits'), 'Fits', /at once with a window of 8,192 tokens\. It needs about 5\.0 GiB; 12\.0 GiB/],
  [told('fits', { context: null, needed: null }), 'Fits', /^It loads at once\.$/],
  [told('fits_with_context', { context: 2048 }), 'Fits with 2,048 tokens', /no room for its usual window/],
  [told('needs_eviction', { evicts: ['a', 'b'] }), 'Needs eviction of a and b', /once a and b have been/],
  [told('needs_eviction', { evicts: ['a'] }), 'Needs eviction of a', /once a has been/],
  [told('needs_eviction'), 'Has to wait', /as soon as memory/],
  [told('does_not_fit', { pool: '0000:03:00.0' }), 'Does not fit', /of memory 0000:03:00\.0 can be had/],
  [told('unknown'), 'Not known', /Another program/],
])('%j', (given, word, text) => {
  const look = fitLook(given);
  expect(look.word).toBe(word);
  expect(look.text).toMatch(text);
});
