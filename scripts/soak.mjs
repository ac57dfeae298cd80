// The suites with the full repeat counts of the catalogue; hours, not minutes. A first argument picks the scale (default 1).
import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { prepare, root } from './prepare.mjs';

const { node } = prepare({ dashboard: true });
const scale = process.argv[2] ?? '1';
const env = {
  ...process.env,
  PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
  SVC_TEST_SCALE: scale,
};
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const args = [vitest, 'run', '--testTimeout=86400000', '--hookTimeout=600000'];
process.exit(spawnSync(node, args, { cwd: root, env, stdio: 'inherit' }).status ?? 1);
