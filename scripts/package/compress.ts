import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** `gzip` is quick, for tests and everyday use; `xz` is small, for releases. */
export type Compression = 'gzip' | 'xz';

export const SUFFIX: Readonly<Record<Compression, string>> = { gzip: '.gz', xz: '.xz' };

/** Two threads with whole blocks on any machine: the output depends only on the block size. */
const XZ = ['-6', '-T2', '--block-size=64MiB', '-c'];

async function throughXz(source: Readable, file: string): Promise<void> {
  const xz = spawn('xz', XZ, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve, reject) => {
    xz.once('error', (error) => reject(new Error(`xz cannot be run: ${error.message}`)));
    xz.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`xz ended with ${code}`))));
  });
  await Promise.all([ended, pipeline(source, xz.stdin), pipeline(xz.stdout, createWriteStream(file))]);
}

/** Writes the chunks to a compressed file. The same chunks give the same bytes. */
export async function compressTo(file: string, pieces: Iterable<Buffer>, how: Compression): Promise<void> {
  const source = Readable.from(pieces, { objectMode: false });
  if (how === 'xz') return throughXz(source, file);
  await pipeline(source, createGzip({ level: 1 }), createWriteStream(file));
}
