import type { Readable, Transform } from 'node:stream';

/**
 * What comes out of `through` when `source` goes in. An error of either ends the iteration with it, and an iteration that is left
 * early ends both; neither can fail unheard.
 */
export async function* piped(source: Readable, through: Transform): AsyncGenerator<Buffer> {
  source.on('error', (error) => through.destroy(error));
  through.on('error', () => {});
  source.pipe(through);
  try {
    for await (const piece of through) yield piece as Buffer;
  } finally {
    source.destroy();
    through.destroy();
  }
}
