import { stat } from 'node:fs/promises';
import { describeStart } from './file-start.ts';
import { ProjectorFile, readGgufMetadata } from './gguf-metadata.ts';
import { isTransient, readFault } from './read-error.ts';
import type { MetadataOutcome, ModelMetadata } from './read-metadata-in-child.ts';
import { readSpeechMetadata, speechLayout } from './speech-metadata.ts';
import { readWeightsMetadata, weightsSize } from './weights-metadata.ts';

/** Reads the header of a file, or of a folder of a model, in this process. Never rejects. */
export async function metadataOfPath(path: string): Promise<MetadataOutcome> {
  try {
    return { path, metadata: await read(path) };
  } catch (error) {
    const fault = readFault(error);
    const instead = fault === null && !(error instanceof ProjectorFile) ? await describeStart(path) : null;
    return {
      path,
      reason: fault ?? instead ?? (error instanceof Error ? error.message : String(error)),
      projector: error instanceof ProjectorFile,
      passing: isTransient(error),
    };
  }
}

async function read(path: string): Promise<ModelMetadata> {
  if (!(await stat(path)).isDirectory())
    return /\.onnx$/i.test(path) ? readSpeechMetadata(path) : readGgufMetadata(path);
  const weights = (await speechLayout(path)) === null && (await weightsSize(path)) !== null;
  return weights ? readWeightsMetadata(path) : readSpeechMetadata(path);
}
