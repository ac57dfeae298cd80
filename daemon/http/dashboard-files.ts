import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';

export interface DashboardFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** The same content compressed with gzip; null where that is not worth it. */
  readonly gzip: Buffer | null;
  /** Built assets carry a hash in their name and never change. */
  readonly immutable: boolean;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ico': 'image/x-icon',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

const MAX_FILES = 500;

/**
 * Reads the built dashboard into a map of exact paths, once at start. No URL ever causes a file-system
 * lookup. Returns an empty map when it was not built.
 */
export function loadDashboard(folder: string): ReadonlyMap<string, DashboardFile> {
  const files = new Map<string, DashboardFile>();
  const add = (path: string, file: string, immutable: boolean) => {
    const type = TYPES[extname(file)];
    if (!type || files.size >= MAX_FILES) return;
    const compressed = `${file}.gz`;
    const gzip = existsSync(compressed) ? readFileSync(compressed) : null;
    files.set(path, { type, bytes: readFileSync(file), gzip, immutable });
  };
  for (const name of list(folder))
    if (statSync(join(folder, name)).isFile()) add(`/${name}`, join(folder, name), false);
  for (const name of list(join(folder, 'assets'))) add(`/assets/${name}`, join(folder, 'assets', name), true);
  return files;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
