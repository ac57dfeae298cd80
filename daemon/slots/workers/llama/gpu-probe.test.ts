import { expect, it } from 'vitest';
import { testBindingBinary } from './gpu-probe.ts';

it('skips the trial of the CPU binary and delegates the one of a GPU binary', async () => {
  expect(await testBindingBinary('/nowhere/llama.node', undefined, false)).toBe(true);
  expect(await testBindingBinary('/nowhere/llama.node', undefined, 'vulkan', 20_000)).toBe(false);
});
