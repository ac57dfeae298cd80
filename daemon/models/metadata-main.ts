/**
 * Child program that reads the headers of the files (and folders of models) in its arguments and prints one line
 * of JSON for each.
 */
import { stat } from 'node:fs/promises';
import { ProjectorFile, readGgufMetadata } from './gguf-metadata.ts';
import { isTransient, readFault } from './read-error.ts';
import type { ModelMetadata } from './read-metadata-in-child.ts';
import { readSpeechMetadata, speechLayout } from './speech-metadata.ts';
import { readWeightsMetadata, weightsSize } from './weights-metadata.ts';

async function metadataOf(path: string): Promise<ModelMetadata> {
  if (!(await stat(path)).isDirectory())
    return /\.onnx$/i.test(path) ? readSpeechMetadata(path) : readGgufMetadata(path);
  const weights = (await speechLayout(path)) === null && (await weightsSize(path)) !== null;
  return weights ? readWeightsMetadata(path) : readSpeechMetadata(path);
}

for (const path of process.argv.slice(2)) {
  const outcome = await metadataOf(path).then(
    (metadata) => ({ path, metadata }),
    (error: unknown) => ({
      path,
      reason: readFault(error) ?? (error instanceof Error ? error.message : String(error)),
      projector: error instanceof ProjectorFile,
      passing: isTransient(error),
    }),
  );
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
