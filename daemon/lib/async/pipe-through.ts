import type { Readable, Transform } from 'node:stream';

/**
 * What comes out of `through` when `source` goes in. An error of either ends the iteration with it, and an iteration that is left
 * early ends both; neither can fail unheard.
 */
export async function* pipeThrough(source: Readable, transform: Transform): AsyncGenerator<Buffer> {
  source.on('error', (error) => transform.destroy(error));
  transform.on('error', () => {});
  source.pipe(transform);
  try {
    for await (const chunk of transform) yield chunk as Buffer;
  } finally {
    source.destroy();
    transform.destroy();
  }
}
