/**
 * Child program that reads the headers of the files (and speech folders) in its arguments and prints one line
 * of JSON for each.
 */
import { stat } from 'node:fs/promises';
import { ProjectorFile, readGgufFacts } from './gguf-metadata.ts';
import { isTransient, readFault } from './read-error.ts';
import type { ModelFacts } from './read-metadata-in-child.ts';
import { readSpeechFacts, speechLayout } from './speech-metadata.ts';
import { readWeightsFacts, weightsSize } from './weights-metadata.ts';

async function factsOf(path: string): Promise<ModelFacts> {
  if (!(await stat(path)).isDirectory()) return readGgufFacts(path);
  const weights = (await speechLayout(path)) === null && (await weightsSize(path)) !== null;
  return weights ? readWeightsFacts(path) : readSpeechFacts(path);
}

for (const path of process.argv.slice(2)) {
  const outcome = await factsOf(path).then(
    (facts) => ({ path, facts }),
    (error: unknown) => ({
      path,
      reason: readFault(error) ?? (error instanceof Error ? error.message : String(error)),
      projector: error instanceof ProjectorFile,
      passing: isTransient(error),
    }),
  );
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
