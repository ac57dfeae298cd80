import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXT = /\.(html|js|css|svg)$/;
/** Smaller files fit into the first packets of a connection either way. */
const MIN_BYTES = 1024;

/**
 * Writes a `.gz` file next to each text file of the build, which the gateway sends instead. Not Brotli: browsers accept it
 * over https and on this machine only, where it saves little time.
 */
export function gzipFiles(): Plugin {
  return {
    name: 'gzip-files',
    apply: 'build',
    writeBundle({ dir = '' }, bundle) {
      for (const name of Object.keys(bundle).filter((each) => TEXT.test(each))) {
        const bytes = readFileSync(join(dir, name));
        if (bytes.length >= MIN_BYTES) writeFileSync(join(dir, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      }
    },
  };
}
