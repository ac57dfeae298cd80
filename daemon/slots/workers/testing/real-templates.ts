import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BUNDLE = join(
  import.meta.dirname,
  ...['..', '..', '..', '..', 'node_modules', 'node-llama-cpp', 'llama', 'gitRelease.bundle'],
);
const FOLDER = join('models', 'templates');

/**
 * Returns the chat templates of real models in llama.cpp's sources, which node-llama-cpp contains, by file
 * name. Null without them or without git; suites that are skipped for that report it.
 */
export function realTemplates(): ReadonlyMap<string, string> | null {
  const folder = mkdtempSync(join(tmpdir(), 'svc-templates-'));
  try {
    if (!existsSync(BUNDLE)) throw new Error('node-llama-cpp brought no sources');
    execFileSync('git', ['clone', '-q', '--no-checkout', BUNDLE, folder], { stdio: 'pipe', timeout: 60_000 });
    execFileSync('git', ['-C', folder, 'checkout', '-q', 'HEAD', '--', FOLDER], {
      stdio: 'pipe',
      timeout: 60_000,
    });
    const names = readdirSync(join(folder, FOLDER)).filter((name) => name.endsWith('.jinja'));
    return new Map(names.map((name) => [name, readFileSync(join(folder, FOLDER, name), 'utf8')]));
  } catch (error) {
    console.warn(`SKIPPED, there are no real templates here: ${String(error).slice(0, 300)}`);
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
