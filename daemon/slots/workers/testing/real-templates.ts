import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BUNDLE = join(
  import.meta.dirname,
  ...['..', '..', '..', '..', 'node_modules', 'node-llama-cpp', 'llama', 'gitRelease.bundle'],
);
const FOLDER = join('models', 'templates');

function readFolder(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.jinja'));
  return new Map(names.sort().map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** Returns the chat templates of real models by file name, see `templates/README.md`. */
export const realTemplates = (): ReadonlyMap<string, string> =>
  readFolder(join(import.meta.dirname, 'templates'));

/** Returns the same templates from the sources that node-llama-cpp contains. Null without them or without git. */
export function pinnedTemplates(): ReadonlyMap<string, string> | null {
  const folder = mkdtempSync(join(tmpdir(), 'svc-templates-'));
  try {
    if (!existsSync(BUNDLE)) throw new Error('node-llama-cpp has no sources');
    execFileSync('git', ['clone', '-q', '--no-checkout', BUNDLE, folder], { stdio: 'pipe', timeout: 60_000 });
    execFileSync('git', ['-C', folder, 'checkout', '-q', 'HEAD', '--', FOLDER], {
      stdio: 'pipe',
      timeout: 60_000,
    });
    return readFolder(join(folder, FOLDER));
  } catch (error) {
    console.warn(`SKIPPED, the templates of llama.cpp cannot be read: ${String(error).slice(0, 300)}`);
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
