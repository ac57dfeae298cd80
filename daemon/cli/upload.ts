import type { Upload } from './client.ts';
import { CliError, EXIT } from './exit-codes.ts';

/** Read at once from the file. */
const CHUNK_BYTES = 256 * 1024;

/** A name as it may stand between quotes in the head of a part. */
const quoted = (name: string): string => name.replace(/[\0-\x1f\x7f]/g, '').replace(/["\\]/g, '_');

/**
 * Returns a form whose last part is a file that is read while it is sent, so that a recording of any size
 * needs no memory. The length is the current size of the file: a file that shrinks meanwhile aborts the
 * upload. Throws CliError when the path is not a file.
 */
export async function fileForm(fields: Readonly<Record<string, string>>, path: string): Promise<Upload> {
  const { open } = await import('node:fs/promises');
  const { basename } = await import('node:path');
  const { randomBytes } = await import('node:crypto');
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`${path} cannot be read (${error.code})`, EXIT.usage);
  });
  const stat = await file.stat();
  if (!stat.isFile()) {
    await file.close();
    throw new CliError(`${path} is not a file`, EXIT.usage);
  }
  const boundary = `svcctl-${randomBytes(12).toString('hex')}`;
  const part = (head: string) => `--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n`;
  const texts = Object.entries(fields).map(([name, value]) => `${part(`name="${name}"`)}\r\n${value}\r\n`);
  const fileHead = `${part(`name="file"; filename="${quoted(basename(path))}"`)}content-type: application/octet-stream\r\n\r\n`;
  const head = Buffer.from(texts.join('') + fileHead);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* chunks(): AsyncGenerator<Buffer> {
    yield head;
    yield* file.createReadStream({
      end: Math.max(0, stat.size - 1),
      highWaterMark: CHUNK_BYTES,
    }) as AsyncIterable<Buffer>;
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    length: head.length + stat.size + tail.length,
    chunks: chunks(),
  };
}
