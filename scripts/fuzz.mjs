// The random suites with the whole counts of the catalogue, or with `--minutes N` for each property. A seed that found
// something is printed; SVC_TEST_SEED=… plays it again. Other arguments pick files by a part of their name.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { prepare, root } from './prepare.mjs';

const args = process.argv.slice(2);
const at = args.indexOf('--minutes');
const minutes = at < 0 ? 0 : Number(args.splice(at, 2)[1]);
if (!(minutes >= 0)) {
  console.error('usage: npm run fuzz -- [--minutes N] [part of a file name …]');
  process.exit(2);
}

const text = (file) => readFileSync(join(root, file), 'utf8');
const files = readdirSync(join(root, 'daemon'), { recursive: true })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join('daemon', name))
  .filter((file) => file.endsWith('targets.property.test.ts') || /\bfuzzing\(/.test(text(file)))
  .filter((file) => args.length === 0 || args.some((part) => file.includes(part)));

const { node } = prepare({ dashboard: true });
const env = {
  ...process.env,
  PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
  SVC_TEST_SCALE: process.env.SVC_TEST_SCALE ?? '1',
  ...(minutes > 0 ? { SVC_FUZZ_MS: String(minutes * 60_000) } : {}),
};
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const run = spawnSync(node, [vitest, 'run', '--testTimeout=86400000', '--hookTimeout=600000', ...files], {
  cwd: root,
  env,
  stdio: 'inherit',
});
process.exit(run.status ?? 1);
