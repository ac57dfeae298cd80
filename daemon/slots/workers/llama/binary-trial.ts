import { registerHooks } from 'node:module';

const TRIAL = /\/node-llama-cpp\/dist\/bindings\/utils\/testBindingBinary\.js$/;

/**
 * Keeps node-llama-cpp from starting a second Node before each load, in which it loads its binary for trial (3.22): 0.3 s, more than
 * all else that a small model's load takes. For a card the trial stays: what its driver does to it lets `auto` fall back to the CPU. The
 * binary of the CPU has nothing to fall back to, and whoever loads it here is a process of its own, whose end the slot tells.
 * To be called before the library is read in.
 */
export function skipCpuBinaryTrial(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      if (!TRIAL.test(found.url)) return found;
      return { url: new URL('./card-trial.ts', import.meta.url).href, shortCircuit: true };
    },
  });
}
