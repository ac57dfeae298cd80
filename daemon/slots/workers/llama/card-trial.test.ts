import { expect, it } from 'vitest';
import { testBindingBinary } from './card-trial.ts';

it("takes the CPU's binary untried and has the library try the one of a card", async () => {
  expect(await testBindingBinary('/nowhere/llama.node', undefined, false)).toBe(true);
  expect(await testBindingBinary('/nowhere/llama.node', undefined, 'vulkan', 20_000)).toBe(false);
});
