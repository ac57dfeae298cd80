import { fileURLToPath } from 'node:url';
import { compileCacheEnv } from '../kit/compile-cache.ts';
import { runCommand } from '../kit/run-command.ts';
import type { GgufFacts } from './gguf-facts.ts';
import type { SpeechFacts } from './speech-facts.ts';
import type { WeightsFacts } from './weights-facts.ts';

const PROGRAM = fileURLToPath(new URL('./facts-main.ts', import.meta.url));
/** Files per process; their time limit grows with their number. */
const BATCH = 16;
const START_MS = 10_000;
const FILE_MS = 5000;
const MAX_BYTES = 4 << 20;
/** A crafted header must not take the machine's memory. */
const HEAP_MIB = 512;

/** What is known of a model before it is loaded. */
export type ModelFacts = GgufFacts | SpeechFacts | WeightsFacts;

/** Facts of a file or folder, or why it is no model by itself; a projector belongs to another one. */
export type FactsOutcome =
  | { path: string; facts: ModelFacts }
  | { path: string; reason: string; projector?: boolean };

/** The lines that came through whole; a last one that was cut off is not among them. */
export function parseOutcomes(stdout: string): FactsOutcome[] {
  return stdout.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as FactsOutcome];
    } catch {
      return [];
    }
  });
}

async function readBatch(paths: readonly string[], signal?: AbortSignal): Promise<FactsOutcome[]> {
  const result = await runCommand(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, PROGRAM, ...paths], {
    timeoutMs: START_MS + FILE_MS * paths.length,
    maxBytes: MAX_BYTES,
    signal,
    env: compileCacheEnv(),
  });
  const outcomes = new Map(parseOutcomes(result.stdout).map((outcome) => [outcome.path, outcome]));
  const reason = result.timedOut ? 'reading its header took too long' : 'its header could not be read';
  return paths.map((path) => outcomes.get(path) ?? { path, reason });
}

/**
 * Reads headers in a process of its own, so that a large vocabulary does not hold up the event loop and a crafted file
 * can't hurt the daemon. One outcome per path, in order. Never throws.
 */
export async function readFactsApart(
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<FactsOutcome[]> {
  const outcomes: FactsOutcome[] = [];
  for (let at = 0; at < paths.length; at += BATCH) {
    outcomes.push(...(await readBatch(paths.slice(at, at + BATCH), signal)));
  }
  return outcomes;
}
