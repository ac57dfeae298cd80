import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const DOCUMENTS = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'];
/** Folders of the repository. Other paths in these pages belong to an installation or to the reader. */
const PLACE =
  /`((?:daemon|dashboard|docs|e2e|packaging|scripts|systemd)\/[\w./-]+)`|\]\((?!https?:)([\w./-]+)\)/g;

test.each(DOCUMENTS)('every file and folder that %s names is there', (document) => {
  const text = readFileSync(join(root, document), 'utf8');
  const named = [...text.matchAll(PLACE)].map(([, code, link]) => code ?? link ?? '');
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

/** Pages of the documentation; docs/spec is checked with the code that cites it. */
const PAGES = ['daemon/*/README.md', 'docs/**/*.md', '*.md']
  .flatMap((pattern) => globSync(pattern, { cwd: root }))
  .filter((page) => !page.startsWith('docs/spec/'))
  .sort();

test.each(PAGES)('every link of %s leads to a file', (page) => {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/```[\s\S]*?```/g, '');
  const links = [...text.matchAll(/\]\((?![a-z]+:|#)([^)\s#]+)/g)].map(([, link]) => link ?? '');
  expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
});

test('the index names every page of docs', () => {
  const index = readFileSync(join(root, 'docs', 'README.md'), 'utf8');
  const pages = globSync('{guide,internals,reference}/*.md', { cwd: join(root, 'docs') });
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((page) => !index.includes(`](${page})`))).toEqual([]);
});

test('every file that the glossary names is there', () => {
  const glossary = readFileSync(join(root, 'docs', 'glossary.md'), 'utf8');
  const named = [...glossary.matchAll(/`((?:daemon|scripts)\/[\w./-]+)`/g)].map(([, path]) => path ?? '');
  expect(named.length).toBeGreaterThan(80);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('every dangerous folder that the architecture names is there', () => {
  const [, section = ''] = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('## Dangerous folders');
  const [folders = ''] = section.split('\n## ');
  const named = [...folders.matchAll(/`([\w/-]+)`/g)].map(([, path]) => join(root, 'daemon', path ?? ''));
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((path) => !existsSync(path) && !existsSync(`${path}.ts`))).toEqual([]);
});
