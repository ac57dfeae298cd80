/**
 * Child program that reads the headers of the files (and speech folders) in its arguments and prints one line
 * of JSON for each.
 */
import { stat } from 'node:fs/promises';
import { ProjectorFile, readGgufFacts } from './gguf-facts.ts';
import type { ModelFacts } from './read-facts-in-child.ts';
import { isTransient, readFault } from './read-fault.ts';
import { readSpeechFacts, speechLayout } from './speech-facts.ts';
import { readWeightsFacts, weightsSize } from './weights-facts.ts';

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
