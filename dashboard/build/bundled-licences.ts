import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)/i;

/** The package folder of a bundled module; null for modules of this project. */
export function packageOf(moduleId: string): string | null {
  const found = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(
    moduleId.replace(/^\0/, '').split('?')[0] ?? '',
  );
  return found?.[1] ?? null;
}

/** The metadata of a package and its licence texts. */
function notice(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string;
  };
  const texts = readdirSync(folder)
    .filter((file) => LICENCE_FILE.test(file))
    .sort()
    .map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license ?? 'no licence named'})`, ...texts].join('\n\n');
}

/** The notices of all packages of these modules, sorted by folder. */
export function noticesOf(moduleIds: Iterable<string>): string {
  const folders = new Set<string>();
  for (const id of moduleIds) {
    const folder = packageOf(id);
    if (folder !== null && existsSync(join(folder, 'package.json'))) folders.add(folder);
  }
  const notices = [...folders].sort().map(notice);
  return `${notices.join(`\n\n${'-'.repeat(78)}\n\n`)}\n`;
}

/** Writes `licences.txt` next to the page, because most licences require their text with each copy. */
export function bundledLicences(): Plugin {
  return {
    name: 'bundled-licences',
    apply: 'build',
    generateBundle(_options, bundle) {
      const ids = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source: noticesOf(ids) });
    },
  };
}
