import { metadataOfPath } from '../metadata-of-path.ts';
import type { MetadataOutcome, MetadataReader } from '../read-metadata-in-child.ts';

/** Reads headers in this process: the start of a child costs more than most tests. */
export const readInProcess: MetadataReader = async (paths) => {
  const outcomes: MetadataOutcome[] = [];
  for (const path of paths) outcomes.push(await metadataOfPath(path));
  return outcomes;
};
