/** Program of its own: reads the headers of the files (and speech folders) named as arguments, one line of JSON for each. */
import { stat } from 'node:fs/promises';
import type { ModelFacts } from './facts-apart.ts';
import { readGgufFacts } from './gguf-facts.ts';
import { readSpeechFacts } from './speech-facts.ts';

const factsOf = async (path: string): Promise<ModelFacts> =>
  (await stat(path)).isDirectory() ? readSpeechFacts(path) : readGgufFacts(path);

for (const path of process.argv.slice(2)) {
  const outcome = await factsOf(path).then(
    (facts) => ({ path, facts }),
    (error: unknown) => ({ path, reason: error instanceof Error ? error.message : String(error) }),
  );
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
