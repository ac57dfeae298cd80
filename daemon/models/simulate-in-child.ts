import { fileURLToPath } from 'node:url';
import { type ChildProgram, runInChild } from './child-batches.ts';
import type { SimulatedContext } from './simulated-context.ts';

interface Simulation {
  readonly path: string;
  readonly points: SimulatedContext;
}

const SIMULATOR: ChildProgram<Simulation> = {
  path: fileURLToPath(new URL('./simulate-main.ts', import.meta.url)),
  batch: 8,
  heapMib: 512,
  time: { start: 20_000, file: 20_000 },
  ended: (path) => ({ path, points: [] }),
};

/**
 * Asks llama.cpp for the memory of contexts of GGUF files, in a child process, because it ends the process at an
 * impossible header. Returns the points of each path in order; none when the model cannot be simulated. Never throws.
 */
export async function simulateInChild(
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<SimulatedContext[]> {
  return (await runInChild(SIMULATOR, paths, signal)).map(({ points }) => points);
}
