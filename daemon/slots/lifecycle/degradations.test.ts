import { expect, it } from 'vitest';
import { degradedBy } from './degradations.ts';

const NOTE = 'A GPU is not used. Install its driver.';
const auto = { device: 'auto', degraded: null };

it.each([
  [auto, { device: 'cpu' }, null, null],
  [auto, { device: 'cpu' }, NOTE, `The model runs on the CPU: ${NOTE}`],
  [auto, { device: 'vulkan' }, NOTE, null],
  [{ ...auto, device: 'cpu' }, { device: 'cpu' }, NOTE, null],
  [auto, { device: 'vulkan', layers: { placed: 33, total: 33 } }, null, null],
  [auto, { device: 'cpu', layers: { placed: 0, total: 33 } }, null, null],
])('%j, %j, %j', (launch, loaded, note, expected) => {
  expect(degradedBy(launch, loaded, note)).toBe(expected);
});

it('reports how many layers are on the device, and every other reason', () => {
  const half = { device: 'vulkan', layers: { placed: 12, total: 33 } };
  expect(degradedBy(auto, half, null)).toContain('12 of 33 layers are on vulkan');
  const launch = { device: 'auto', degraded: 'The window is small.' };
  expect(degradedBy(launch, { device: 'cpu' }, NOTE)).toBe(
    `The window is small. The model runs on the CPU: ${NOTE}`,
  );
});
