// The random suites with the full counts of the catalogue, or with `--minutes N` for each property. The seed
// of a finding is printed; SVC_TEST_SEED=… repeats it. Other arguments select files by a part of their name.
// `--guided`: coverage-guided fuzzing instead (scripts/fuzz/targets.ts), a minute for each target.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { prepare, root } from './prepare.mjs';
import { provide } from './test-tools.mjs';

/** Suites that need installed programs, with a separate configuration. */
const SYSTEM = join('e2e', 'system');

function guided(args) {
  const { node } = prepare({ build: false });
  const found = provide(['libc', 'jazzer']);
  if (!found.SVC_TEST_JAZZER || !found.SVC_TEST_LIBC) return 1;
  const script = join(root, 'scripts', 'fuzz', 'run-guided.ts');
  const env = { ...process.env, ...found };
  return spawnSync(node, [script, ...args], { cwd: root, env, stdio: 'inherit' }).status ?? 1;
}

function suites(args) {
  const at = args.indexOf('--minutes');
  const minutes = at < 0 ? 0 : Number(args.splice(at, 2)[1]);
  if (!(minutes >= 0)) {
    console.error('usage: npm run fuzz -- [--minutes N] [part of a file name …]');
    console.error('       npm run fuzz -- --guided [--minutes N] [--replay FILE] [target …]');
    return 2;
  }
  const text = (file) => readFileSync(join(root, file), 'utf8');
  const filesBelow = (folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(folder, name))
      .filter((file) => file.endsWith('targets.property.test.ts') || /\bfuzzing\(/.test(text(file)))
      .filter((file) => args.length === 0 || args.some((part) => file.includes(part)));
  const [files, system] = [filesBelow('daemon'), filesBelow(SYSTEM)];
  if (files.length + system.length === 0) {
    console.error(`No random suite has one of these in its name: ${args.join(', ')}`);
    return 2;
  }
  const { node } = prepare({ build: true });
  const env = {
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    SVC_TEST_SCALE: process.env.SVC_TEST_SCALE ?? '1',
    ...(minutes > 0 ? { SVC_FUZZ_MS: String(minutes * 60_000) } : {}),
  };
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const run = (found, more = {}, ...options) => {
    if (found.length === 0) return 0;
    const words = [vitest, 'run', '--testTimeout=86400000', '--hookTimeout=600000', ...options, ...found];
    return spawnSync(node, words, { cwd: root, env: { ...env, ...more }, stdio: 'inherit' }).status ?? 1;
  };
  const failed = run(files);
  const parts = system.length > 0 ? provide() : {};
  return run(system, parts, '--config', join(SYSTEM, 'vitest.config.ts')) || failed;
}

const args = process.argv.slice(2);
const isGuided = args.includes('--guided');
process.exit(isGuided ? guided(args.filter((each) => each !== '--guided')) : suites(args));
