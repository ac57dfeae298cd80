// The mutation score of the core (scripts/mutate/core.ts): every small change of it must fail a unit test beside it.
// Arguments pick files by a part of their name; the whole report is artifacts/mutation.json.
import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { provide } from './parts.mjs';
import { prepare, root } from './prepare.mjs';

const { node } = prepare({ dashboard: false });
const { SVC_TEST_STRYKER: stryker } = provide(['stryker']);
if (!stryker) process.exit(1);
const script = join(root, 'scripts', 'mutate', 'run.ts');
const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
const args = [script, stryker, ...process.argv.slice(2)];
process.exit(spawnSync(node, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1);
