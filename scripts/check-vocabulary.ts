// Prints each use of a term that scripts/vocabulary.ts lists. Exits with 1 when there is one.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { vocabularyFindings } from './vocabulary.ts';

const root = join(import.meta.dirname, '..');
const PATHS = ['daemon', 'dashboard', 'e2e', 'scripts', 'docs', '*.md', 'vitest.config.ts'];
/** Files that contain the terms as data, texts of third parties, and the changelog, which is history. */
const EXCLUDED =
  /^scripts\/vocabulary(\.test)?\.ts$|^CHANGELOG\.md$|\/fixtures\/|\/captured\/|\/openai-schemas\//;

const tracked = execFileSync('git', ['ls-files', '-z', ...PATHS], { cwd: root, encoding: 'utf8' }).split(
  '\0',
);
const sources = tracked.filter((path) => /\.(ts|tsx|mts|mjs|cjs|css|md)$/.test(path) && !EXCLUDED.test(path));
const texts = sources.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const findings = vocabularyFindings(texts);
for (const finding of findings) console.error(finding);
console.log(findings.length === 0 ? 'vocabulary: no finding' : `vocabulary: ${findings.length} finding(s)`);
process.exitCode = findings.length === 0 ? 0 : 1;
