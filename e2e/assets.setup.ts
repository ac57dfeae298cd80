import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'playwright/test';
import { DAEMON } from '../daemon/test/harness/gateway.ts';
import { built, sources } from './harness/paths.ts';

const index = join(built, 'index.html');

function newest(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return Math.max(...files.map((name) => statSync(join(folder, name)).mtimeMs));
}

test('the dashboard and the daemon are built', () => {
  if (!existsSync(index)) throw new Error('The dashboard is not built. Run "npm run build" first.');
  if (!existsSync(DAEMON)) throw new Error('The daemon is not built. Run "npm run build" first.');
  if (newest(sources) > statSync(index).mtimeMs)
    console.warn('The built dashboard is older than its sources: "npm run build" brings it up to date.');
});

interface Chunk {
  file: string;
  css?: string[];
  imports?: string[];
}

/** Files that a browser loads before the first view: an entry with all its static imports. */
function firstFiles(manifest: Readonly<Record<string, Chunk>>, entry: string, files = new Set<string>()) {
  const chunk = manifest[entry];
  if (chunk === undefined) throw new Error(`the build holds no ${entry}`);
  if (files.has(chunk.file)) return files;
  for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
  for (const name of chunk.imports ?? []) firstFiles(manifest, name, files);
  return files;
}

test('the first load of the overview stays under 250 kB compressed', () => {
  const manifest = JSON.parse(readFileSync(join(built, '.vite', 'manifest.json'), 'utf8')) as Record<
    string,
    Chunk
  >;
  const files = ['index.html', ...firstFiles(manifest, 'index.html')];
  const sizes = files.map((file) => gzipSync(readFileSync(join(built, file))).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250_000);
});
