import { expect, it } from 'vitest';
import { slotConfig } from '../testing/controller-bench.ts';
import { Swaps } from './swaps.ts';

const none = () => undefined;

it('holds above the file until the file changes its mind', () => {
  const swaps = new Swaps();
  const file = slotConfig('w', 'model = "a"');
  swaps.set('w', 'b', 'a');
  const [first] = swaps.apply([file], none);
  expect(first?.model).toBe('b');
  expect(swaps.apply([file], none)[0]).toBe(first);
  expect(swaps.apply([slotConfig('w', 'model = "c"')], none)[0]?.model).toBe('c');
  expect(swaps.modelOf('w')).toBeNull();
});

it('a persisted one is what the file says', () => {
  const swaps = new Swaps();
  swaps.set('w', 'b', 'b');
  const file = slotConfig('w', 'model = "b"');
  expect(swaps.apply([file], none)).toEqual([file]);
  expect(swaps.modelOf('w')).toBe('b');
});

it('holds for a slot without a file, and is forgotten with the slot', () => {
  const swaps = new Swaps();
  swaps.set('auto', 'b', null);
  const config = slotConfig('auto', 'model = "a"');
  expect(swaps.apply([], () => config).map(({ model }) => model)).toEqual(['b']);
  expect(swaps.apply([], none)).toEqual([]);
  expect(swaps.modelOf('auto')).toBeNull();
});

it('remembers what an automatic slot held before all its swaps, and goes on above a file that names that', () => {
  const swaps = new Swaps();
  swaps.set('auto', 'b', null, 'a');
  swaps.set('auto', 'c', null, 'b');
  expect(swaps.automaticModelOf('auto')).toBe('a');
  swaps.keepAboveNewFile('auto');
  expect(swaps.apply([slotConfig('auto', 'model = "a"')], none)[0]?.model).toBe('c');
  expect(swaps.apply([slotConfig('auto', 'model = "d"')], none)[0]?.model).toBe('d');
  expect(swaps.automaticModelOf('auto')).toBeNull();
});
