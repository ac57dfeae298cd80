/**
 * Child program that reads the headers of the files (and folders of models) in its arguments and prints one line
 * of JSON for each.
 */
import { metadataOfPath } from './metadata-of-path.ts';

for (const path of process.argv.slice(2))
  process.stdout.write(`${JSON.stringify(await metadataOfPath(path))}\n`);
