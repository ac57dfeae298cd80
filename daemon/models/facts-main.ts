/** Program of its own: reads the headers of the files named as arguments and prints one line of JSON for each. */
import { readGgufFacts } from './gguf-facts.ts';

for (const path of process.argv.slice(2)) {
  const outcome = await readGgufFacts(path).then(
    (facts) => ({ path, facts }),
    (error: unknown) => ({ path, reason: error instanceof Error ? error.message : String(error) }),
  );
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
