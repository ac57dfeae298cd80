import { GgufInsights } from 'node-llama-cpp';

const NOTHING = { cpuRam: 0, gpuVram: 0 } as const;

/**
 * Makes the library (node-llama-cpp 3.22) load a model once. By default it loads the vocabulary twice more to simulate the
 * memory of model and context. The C library keeps that memory after it was freed, 50 MB for 262,000 tokens. On the CPU the
 * simulation decides nothing: admission has granted the memory. On a card it decides how many layers fit
 * (docs/adr/0085-the-engine-loads-a-model-once.md).
 */
export function skipSimulation(): void {
  GgufInsights.prototype.estimateModelResourceRequirementsV2 = () => Promise.resolve(NOTHING);
  GgufInsights.prototype.estimateContextResourceRequirementsV2 = () => Promise.resolve(NOTHING);
}
