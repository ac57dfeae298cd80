import { fileURLToPath } from 'node:url';
import { type ChildProgram, runInChild } from './child-batches.ts';
import type { GgufMetadata } from './gguf-metadata.ts';
import type { SpeechMetadata } from './speech-metadata.ts';
import type { WeightsMetadata } from './weights-metadata.ts';

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

/** Reads headers. Returns one outcome per path, in order. Never rejects. */
export type MetadataReader = (paths: readonly string[], signal?: AbortSignal) => Promise<MetadataOutcome[]>;

const READER: ChildProgram<MetadataOutcome> = {
  path: fileURLToPath(new URL('./metadata-main.ts', import.meta.url)),
  batch: 16,
  heapMib: 512,
  time: { start: 10_000, file: 5_000 },
  ended: (path, timedOut) => ({
    path,
    reason: timedOut ? 'reading its header took too long' : 'its header could not be read',
    passing: true,
    ended: true,
  }),
};

/**
 * Reads headers in a child process, because parsing a large vocabulary blocks the event loop. Returns one outcome per
 * path, in order. Never throws.
 */
export const readMetadataInChild = (
  paths: readonly string[],
  signal?: AbortSignal,
  time = READER.time,
): Promise<MetadataOutcome[]> => runInChild({ ...READER, time }, paths, signal);
