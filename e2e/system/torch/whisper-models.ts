import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, shortHash } from '../harness/cache.ts';
import { runProgram } from '../harness/program.ts';
import { pythonEnvironment } from '../harness/python-environment.ts';
import { wheelEntryName } from '../harness/wheel-files.ts';
import { type WhisperWeights, writeWhisperSource } from '../harness/whisper-weights.ts';

const MINUTE = 60_000;
const CONVERTER = join(import.meta.dirname, 'whisper_to_onnx.py');
const LOCK = join(import.meta.dirname, 'whisper-requirements.txt');

/**
 * Returns a folder with the model as sherpa-onnx reads it. It is converted once and then found in the cache. Throws
 * `Unavailable` when Python or the registry is absent.
 */
export async function whisperFolder(weights: WhisperWeights): Promise<string> {
  const { name, wheels } = weights;
  const python = await pythonEnvironment({ name: 'whisper', lock: LOCK, limitMs: 20 * MINUTE });
  const inputs = [readFileSync(CONVERTER, 'utf8'), readFileSync(LOCK, 'utf8'), ...wheels.map(wheelEntryName)];
  const folder = await cachedFolder(`${name}-${shortHash(...inputs)}`, async (scratch) => {
    const source = join(scratch, 'source');
    await writeWhisperSource(weights, source);
    await runProgram(python, [CONVERTER, source, join(scratch, 'model')], { limitMs: 10 * MINUTE });
    rmSync(source, { recursive: true });
  });
  return join(folder, 'model');
}
