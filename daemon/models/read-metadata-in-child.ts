import { fileURLToPath } from 'node:url';
import { compileCacheEnv } from '../lib/perf/compile-cache.ts';
import { runCommand } from '../lib/process/run-command.ts';
import type { GgufMetadata } from './gguf-metadata.ts';
import type { SpeechMetadata } from './speech-metadata.ts';
import type { WeightsMetadata } from './weights-metadata.ts';

const PROGRAM = fileURLToPath(new URL('./metadata-main.ts', import.meta.url));
/** Files per process. The time limit grows with their number. */
const BATCH = 16;
/** Milliseconds for the start of a process, and per file. */
const TIME = { start: 10_000, file: 5_000 };
const MAX_BYTES = 4 << 20;
/** A crafted header must not exhaust the machine's memory. */
const HEAP_MIB = 512;

/** What is known of a model before it is loaded. */
export type ModelMetadata = GgufMetadata | SpeechMetadata | WeightsMetadata;

/**
 * Facts of a file or folder, or why it is no model on its own; a projector belongs to another model.
 * `passing`: it could not be read this time, which says nothing about its content. `ended`: the reader had to
 * be ended at it.
 */
export type MetadataOutcome =
  | { path: string; metadata: ModelMetadata }
  | { path: string; reason: string; projector?: boolean; passing: boolean; ended?: true };

/** Parses the complete lines of the output. A truncated last line is dropped. */
export function parseOutcomes(stdout: string): MetadataOutcome[] {
  return stdout.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as MetadataOutcome];
    } catch {
      return [];
    }
  });
}

/**
 * Returns outcomes of the first of `paths`, at least one. If the reader was ended by time or memory, the last
 * outcome is that file's.
 */
async function readBatch(
  paths: readonly string[],
  time: typeof TIME,
  signal?: AbortSignal,
): Promise<MetadataOutcome[]> {
  const result = await runCommand(process.execPath, [`--max-old-space-size=${HEAP_MIB}`, PROGRAM, ...paths], {
    timeoutMs: time.start + time.file * paths.length,
    maxBytes: MAX_BYTES,
    signal,
    env: compileCacheEnv(),
  });
  const outcomes = new Map(parseOutcomes(result.stdout).map((outcome) => [outcome.path, outcome]));
  const reason = result.timedOut ? 'reading its header took too long' : 'its header could not be read';
  const ended = paths.findIndex((path) => !outcomes.has(path));
  const reached = ended === -1 || signal?.aborted ? paths : paths.slice(0, ended + 1);
  return reached.map((path) => outcomes.get(path) ?? { path, reason, passing: true, ended: true });
}

/**
 * Reads headers in a child process, so that a large vocabulary does not block the event loop and a crafted
 * file can neither harm the daemon nor hide later files. Returns one outcome per path, in order. Never
 * throws.
 */
export async function readMetadataInChild(
  paths: readonly string[],
  signal?: AbortSignal,
  time = TIME,
): Promise<MetadataOutcome[]> {
  const outcomes: MetadataOutcome[] = [];
  while (outcomes.length < paths.length) {
    const next = paths.slice(outcomes.length, outcomes.length + BATCH);
    outcomes.push(...(await readBatch(next, time, signal)));
  }
  return outcomes;
}
