import type { Readable, Transform } from 'node:stream';

/**
 * Pipes `source` through `transform` and yields the output. An error of either stream ends the iteration with
 * that error. Leaving the iteration early destroys both streams. Neither stream can emit an unhandled error.
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
