import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type SourceFile, specFindings } from './spec-anchors.ts';

const root = dirname(import.meta.dirname);

/** Files in which people write prose: code, tests, pages and packaging. */
const PROSE =
  /\.(?:c?ts|tsx|m?js|css|html|md|sh|service|socket|conf|toml|ya?ml)$|\/(?:Caddyfile|Containerfile)$/;
/** Holds citations on purpose that do not exist. */
const EXEMPT: ReadonlySet<string> = new Set(['scripts/spec-anchors.test.ts']);

/** Files that Git tracks or would track. Throws when Git cannot list them. */
function repositoryFiles(): SourceFile[] {
  const options = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { status, stdout, stderr } = spawnSync('git', options, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ls-files failed: ${stderr}`);
  return [...new Set(stdout.split('\0'))]
    .filter((path) => PROSE.test(path) && !EXEMPT.has(path) && existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

const findings = specFindings(repositoryFiles());
for (const line of findings) console.error(line);
console.log(findings.length === 0 ? 'specification anchors: all exist' : `${findings.length} finding(s)`);
process.exitCode = findings.length === 0 ? 0 : 1;
