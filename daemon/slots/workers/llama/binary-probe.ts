import { registerHooks } from 'node:module';

const TRIAL = /\/node-llama-cpp\/dist\/bindings\/utils\/testBindingBinary\.js$/;

/**
 * Skips the process that node-llama-cpp (3.22) starts before each load to try its binary. That process takes
 * 0.3 s, more than everything else in the load of a small model. GPU binaries are still tried, so that `auto`
 * can fall back to the CPU when a driver crashes. The CPU binary has no fallback, and it runs in a worker
 * process whose exit the slot reports. Call this before importing the library.
 */
export function skipCpuBinaryTrial(): void {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      if (!TRIAL.test(found.url)) return found;
      return { url: new URL('./gpu-probe.ts', import.meta.url).href, shortCircuit: true };
    },
  });
}
