// Prints each use of a term that scripts/vocabulary.ts lists, and exits 1 when there is one.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { vocabularyFindings } from './vocabulary.ts';

const root = join(import.meta.dirname, '..');
const FOLDERS = ['daemon', 'dashboard', 'e2e', 'scripts'];
/** Files that have the terms as data, and texts of third parties. */
const LEFT_OUT = /^scripts\/vocabulary(\.test)?\.ts$|\/fixtures\/|\/captured\/|\/openai-schemas\//;

const tracked = execFileSync('git', ['ls-files', '-z', ...FOLDERS], { cwd: root, encoding: 'utf8' }).split(
  '\0',
);
const sources = tracked.filter((path) => /\.(ts|tsx|mts|mjs|css)$/.test(path) && !LEFT_OUT.test(path));
const findings = vocabularyFindings(
  sources.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') })),
);
for (const finding of findings) console.error(finding);
console.log(findings.length === 0 ? 'vocabulary: no finding' : `vocabulary: ${findings.length} finding(s)`);
process.exitCode = findings.length === 0 ? 0 : 1;
