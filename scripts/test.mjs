// Plain JavaScript for Node 20: installs what the tests need, runs every suite, and closes with one line of counts.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { playwrightAgain, playwrightFailures, vitestAgain, vitestFailures } from './failures.mjs';
import { inOwnNetwork } from './own-network.mjs';
import { provide } from './parts.mjs';
import { prepare, root } from './prepare.mjs';

const { node } = prepare({ build: true });
const artifacts = join(root, 'artifacts');
mkdirSync(artifacts, { recursive: true });
/** How a program ends: its exit code, or the name of a signal. */
const endOf = (child) =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
const base = {
  ...process.env,
  PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
  // Programs that the suites start again and again need not be compiled again and again.
  NODE_COMPILE_CACHE: join(root, '.cache', 'compile'),
};
// What it needs is there, and it has a processor for itself while parts are fetched.
const checked = endOf(
  spawn(node, [join(root, 'scripts', 'check.mjs')], { cwd: root, env: base, stdio: 'inherit' }),
);
const env = { ...base, ...provide() };
const totals = { passed: 0, failed: 0, skipped: 0 };
/** Lines about what failed, told again at the end. */
const failures = [];
/** Lines about what passed at a second try only, told as well: each of them is a fault to be found. */
const again = [];
/** Failures told at the end, at most. */
const TOLD = 50;

function count(name, passed, failed, skipped) {
  totals.passed += passed;
  totals.failed += failed;
  totals.skipped += skipped;
  console.log(`${name}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
}

/** What one suite may take on two free cores, in milliseconds; beyond it that is told, and at three times it is ended. */
const SUITE_LIMIT = 4 * 60_000;

/** What all of it may take on two free cores, and what of that the short bench takes, in milliseconds. */
const LIMIT = 20 * 60_000;
const BENCH = 80_000;

/** How often a test is tried on a machine of CI, where others may work beside it; each second try is told. Elsewhere once. */
const TRIES = process.env.CI ? 2 : 1;

/** Runs a program to its end, its output into `stdio`. */
const ended = ([program, ...args], report, stdio) =>
  endOf(
    spawn(program, args, {
      cwd: root,
      env: { ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: report },
      stdio,
      timeout: 3 * SUITE_LIMIT,
    }),
  );

/** Runs one suite and counts it. One that runs `beside` another keeps its output in a file and shows it at its end. */
async function suite(name, command, { counts, failed: failedOf, again: againOf }, beside = false) {
  const report = join(artifacts, `${name}.json`);
  const log = join(artifacts, `${name}.log`);
  rmSync(report, { force: true });
  const started = Date.now();
  const out = beside ? openSync(log, 'w') : 'inherit';
  const status = await ended(command(report), report, ['ignore', out, out]);
  if (beside) {
    closeSync(out);
    process.stdout.write(readFileSync(log));
  }
  const took = Date.now() - started;
  const seconds = (took / 1000).toFixed(1);
  if (took > SUITE_LIMIT) console.log(`${name} took longer than ${SUITE_LIMIT / 1000} s`);
  if (!existsSync(report)) {
    failures.push(`${name}: no report (exit ${status}) after ${seconds} s`);
    return count(name, 0, 1, 0);
  }
  const json = JSON.parse(readFileSync(report, 'utf8'));
  const [passed, failed, skipped] = counts(json);
  for (const { name: test, why } of failedOf(json)) failures.push(`${name}: ${test}: ${why}`);
  for (const { name: test, why } of againOf(json)) again.push(`${name}: ${test}: ${why}`);
  if (failed === 0 && status !== 0) failures.push(`${name}: exit ${status} without a failed test`);
  console.log(`${name} took ${seconds} s`);
  count(name, passed, status === 0 ? failed : Math.max(1, failed), skipped);
}

const vitest = (project, { beside = false, tries = 1 } = {}) =>
  suite(
    project,
    (report) => [
      ...[node, join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--project', project],
      ...['--passWithNoTests', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
      `--retry=${tries - 1}`,
    ],
    {
      counts: (r) => [r.numPassedTests, r.numFailedTests, r.numPendingTests + r.numTodoTests],
      failed: vitestFailures,
      again: vitestAgain,
    },
    beside,
  );

/** Parts of the walks in the browser, one after the other. */
const PARTS = 3;

const browser = (part) =>
  suite(
    `e2e-${part}`,
    () =>
      inOwnNetwork(env.SVC_TEST_IP, [
        ...[node, join(root, 'node_modules', 'playwright', 'cli.js'), 'test'],
        ...['--config', 'e2e/playwright.config.ts', `--shard=${part}/${PARTS}`],
        ...['--output', join(artifacts, `e2e-${part}`), `--retries=${TRIES - 1}`],
      ]),
    {
      counts: (r) => [r.stats.expected + r.stats.flaky, r.stats.unexpected, r.stats.skipped],
      failed: playwrightFailures,
      again: playwrightAgain,
    },
  );

/** The steady figures of the bench, when nothing else runs: a floor that is passed by half fails. */
const bench = () =>
  suite(
    'bench',
    (report) => [
      ...[node, join(root, 'scripts', 'bench.ts'), '--short', '--report', report],
      ...['--json', join(artifacts, 'bench-short.json')],
    ],
    {
      counts: (r) => [r.passed, r.failed, r.skipped],
      failed: (r) => r.failures,
      again: (r) => r.again,
    },
  );

const sound = (await checked) === 0;
if (!sound) failures.push('check: types, lint, format or floors; see above');
count('check', sound ? 1 : 0, sound ? 0 : 1, 0);
for (const project of ['unit', 'workers', 'dashboard']) await vitest(project, { tries: TRIES });
const OVER_PORT = ['door', 'spec', 'inference', 'media', 'slots', 'elsewhere'];
for (const project of OVER_PORT) await vitest(project, { tries: TRIES });
if (!env.CHROMIUM) count('e2e', 0, 0, 1);
// Both lanes wait for others much of their time; in each one suite runs after the other.
const installed = async () => {
  for (const project of ['host', 'packages']) await vitest(project, { beside: true, tries: TRIES });
};
const walked = async () => {
  for (let part = 1; env.CHROMIUM && part <= PARTS; part++) await browser(part);
};
await Promise.all([installed(), walked()]);
if (performance.now() < LIMIT - BENCH) await bench();
else {
  console.log('bench: SKIPPED, on this machine the other suites left no time for it');
  count('bench', 0, 0, 1);
}

for (const line of again.slice(0, TOLD)) console.log(`SECOND TRY ${line.slice(0, 400)}`);
for (const line of failures.slice(0, TOLD)) console.log(`FAILED ${line.slice(0, 400)}`);
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed === 0 ? 0 : 1);
