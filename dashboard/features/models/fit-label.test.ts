import { expect, test } from 'vitest';
import type { ModelFitView } from '../../../daemon/contract/catalog.ts';
import { fitLabel } from './fit-label.ts';

const GIB = 1024 ** 3;
const view = (badge: ModelFitView['badge'], over: Partial<ModelFitView> = {}): ModelFitView => ({
  badge,
  context: 8192,
  evicts: [],
  needed: 5 * GIB,
  free: 12 * GIB,
  pool: 'host',
  cpu_experts: null,
  ...over,
});

test.each([
  [
    view('fits'),
    'Fits',
    /^Fits with a context of 8,192 tokens\. Needs about 5\.0 GiB; 12\.0 GiB of RAM available/,
  ],
  [view('fits', { context: null, needed: null }), 'Fits', /^Fits\.$/],
  [
    view('fits_with_context', { context: 2048 }),
    'Fits with 2,048 tokens',
    /Only fits with a smaller context/,
  ],
  [view('needs_eviction', { evicts: ['a', 'b'] }), 'Will unload a and b', /will unload a and b\./],
  [view('needs_eviction', { evicts: ['a'] }), 'Will unload a', /will unload a\./],
  [view('needs_eviction'), 'Waiting for memory', /as soon as enough memory/],
  [view('does_not_fit', { pool: '0000:03:00.0' }), 'Does not fit', /of GPU memory 0000:03:00\.0 available/],
  [view('unknown'), 'Unknown', /Another program/],
])('%j', (fit, word, text) => {
  const label = fitLabel(fit);
  expect(label.word).toBe(word);
  expect(label.text).toMatch(text);
});

test('says which experts could stay on the CPU', () => {
  const of = (layers: number) =>
    fitLabel(view('fits', { cpu_experts: { engine: 'llama-server', layers, of: 40, bytes: 9 * GIB } })).text;
  expect(of(20)).toContain(
    'With the engine llama-server, the GPU can run it: the experts of 20 of 40 layers (9.0 GiB)',
  );
  expect(of(40)).toContain('the experts of all layers');
});
