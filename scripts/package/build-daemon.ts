import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Entry, textEntry } from './entry.ts';

const BUILD_MS = 120_000;

/** Builds the daemon freshly, because a checkout keeps files of earlier builds. */
export async function builtDaemon(root: string): Promise<Entry[]> {
  const out = mkdtempSync(join(tmpdir(), 'svc-daemon-'));
  try {
    await promisify(execFile)(process.execPath, [join(root, 'scripts', 'build', 'main.ts'), out], {
      timeout: BUILD_MS,
    });
    return readdirSync(out, { recursive: true, encoding: 'utf8' })
      .filter((file) => statSync(join(out, file)).isFile())
      .map((file) => textEntry(`daemon/${file}`, readFileSync(join(out, file), 'utf8')));
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}
