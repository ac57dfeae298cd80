/**
 * Child program that reads the beginnings of GGUF files. Each argument is the size of the whole file, a colon and the
 * path of its beginning. Prints one line of JSON for each.
 */
import { readGgufHead } from './gguf-metadata.ts';

for (const path of process.argv.slice(2)) {
  const colon = path.indexOf(':');
  const outcome = await readGgufHead(path.slice(colon + 1), Number(path.slice(0, colon))).then(
    (metadata) => ({ path, metadata }),
    () => ({ path, metadata: null }),
  );
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
