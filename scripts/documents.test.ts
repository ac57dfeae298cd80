import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const DOCUMENTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'];
/** Folders of the repository; other paths in these pages are those of an installation, or of a reader. */
const PLACE =
  /`((?:daemon|dashboard|docs|e2e|packaging|scripts|systemd)\/[\w./-]+)`|\]\((?!https?:)([\w./-]+)\)/g;

test.each(DOCUMENTS)('every file and folder that %s names is there', (document) => {
  const text = readFileSync(join(root, document), 'utf8');
  const named = [...text.matchAll(PLACE)].map(([, code, link]) => code ?? link ?? '');
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('every dangerous folder that the architecture names is there', () => {
  const [, section = ''] = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('## Dangerous folders');
  const [folders = ''] = section.split('\n## ');
  const named = [...folders.matchAll(/`([\w/-]+)`/g)].map(([, path]) => join(root, 'daemon', path ?? ''));
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((path) => !existsSync(path) && !existsSync(`${path}.ts`))).toEqual([]);
});
