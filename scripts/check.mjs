// Types, lint and format, layers, and the tests that compare documents and tables with the sources.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { prepare, root } from './prepare.mjs';

if (process.argv.length > 2) {
  console.error('npm run check takes no options.');
  process.exit(2);
}
const { node } = prepare({ build: false });
const bin = (name) => join(root, 'node_modules', '.bin', name);
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const STEPS = [
  ['types (daemon)', bin('tsc'), ['-p', root]],
  ['types (dashboard)', bin('tsc'), ['-p', join(root, 'dashboard')]],
  ['lint and format', bin('biome'), ['check', '--error-on-warnings', root]],
  ['layers', node, [join(root, 'scripts', 'check-layers.ts')]],
  ['specification anchors', node, [join(root, 'scripts', 'check-spec-anchors.ts')]],
  ['vocabulary', node, [join(root, 'scripts', 'check-vocabulary.ts')]],
  ['documents and tables', node, [vitest, 'run', '--project', 'bookkeeping', '--reporter=dot']],
];
let failed = 0;
for (const [name, command, args] of STEPS) {
  const run = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  console.log(`${run.status === 0 ? 'ok  ' : 'FAIL'} ${name}`);
  if (run.status === 0) continue;
  failed += 1;
  console.log(`${run.stdout}${run.stderr}`);
}
process.exit(failed === 0 ? 0 : 1);
