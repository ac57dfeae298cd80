import { expect, it } from 'vitest';
import { slotConfig } from '../testing/controller-bench.ts';
import { Swaps } from './swaps.ts';

const none = () => undefined;

it('overrides the file until the file names another model', () => {
  const swaps = new Swaps();
  const file = slotConfig('w', 'model = "a"');
  swaps.set('w', 'b', 'a');
  const [first] = swaps.apply([file], none);
  expect(first?.model).toBe('b');
  expect(swaps.apply([file], none)[0]).toBe(first);
  expect(swaps.apply([slotConfig('w', 'model = "c"')], none)[0]?.model).toBe('c');
  expect(swaps.modelOf('w')).toBeNull();
});

it('a persisted swap is the model that the file names', () => {
  const swaps = new Swaps();
  swaps.set('w', 'b', 'b');
  const file = slotConfig('w', 'model = "b"');
  expect(swaps.apply([file], none)).toEqual([file]);
  expect(swaps.modelOf('w')).toBe('b');
});

it('applies to a slot without a file, and is dropped with the slot', () => {
  const swaps = new Swaps();
  swaps.set('auto', 'b', null);
  const config = slotConfig('auto', 'model = "a"');
  expect(swaps.apply([], () => config).map(({ model }) => model)).toEqual(['b']);
  expect(swaps.apply([], none)).toEqual([]);
  expect(swaps.modelOf('auto')).toBeNull();
});

it('keeps the model that an automatic slot held before its swaps, and stays above a file that names it', () => {
  const swaps = new Swaps();
  swaps.set('auto', 'b', null, 'a');
  swaps.set('auto', 'c', null, 'b');
  expect(swaps.automaticModelOf('auto')).toBe('a');
  swaps.keepAboveNewFile('auto');
  expect(swaps.apply([slotConfig('auto', 'model = "a"')], none)[0]?.model).toBe('c');
  expect(swaps.apply([slotConfig('auto', 'model = "d"')], none)[0]?.model).toBe('d');
  expect(swaps.automaticModelOf('auto')).toBeNull();
});
