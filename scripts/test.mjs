// Plain JavaScript for Node 20: installs what the tests need, builds once, runs suites and closes with one line of counts.
// `parseArguments` in scripts/testing/arguments.mjs has the command lines.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { inOwnNetwork } from './own-network.mjs';
import { prepare, root } from './prepare.mjs';
import { present, provide } from './test-tools.mjs';
import { groupPaths, parseArguments, USAGE } from './testing/arguments.mjs';
import { readPlaywrightReport } from './testing/playwright-report.mjs';
import { run, runWithReport, tailOf } from './testing/run.mjs';
import { Totals } from './testing/totals.mjs';

const MINUTE = 60_000;
/** A runner that takes longer is killed and counts as failed. */
const LIMITS = {
  check: 3 * MINUTE,
  vitest: 20 * MINUTE,
  browser: 20 * MINUTE,
  system: 35 * MINUTE,
  bench: 10 * MINUTE,
};

/** Programs that `npm test` installs where it can. System tests install all others too. */
const PARTS = ['chromium', 'iproute2', 'espeak-ng', 'ffmpeg'];

const artifacts = join(root, 'artifacts');
const modules = (...path) => join(root, 'node_modules', ...path);

function stop(message) {
  console.error(message);
  process.exit(2);
}

/** Paths of the command line, relative to the root. Ends with one line when one does not exist. */
function pathsFromRoot(paths) {
  const from = process.env.INIT_CWD ?? process.cwd();
  return paths.map((path) => {
    const found = [resolve(from, path), resolve(root, path)].find((each) => existsSync(each));
    if (!found) stop(`No such file or folder: ${path}`);
    return relative(root, found) || '.';
  });
}

/** What the text of a test that needs a build has: it starts the built daemon, or is a browser or system test. */
const STARTS_THE_BUILD = /\/harness\/gateway|'dist'|'svcctl'|playwright/;

/** Whether a test file, or one below a folder, needs the built daemon and dashboard. Most unit tests run the sources. */
function needsBuild(path) {
  const full = join(root, path);
  if (!statSync(full).isDirectory()) return STARTS_THE_BUILD.test(readFileSync(full, 'utf8'));
  return readdirSync(full).some(
    (name) => name !== 'node_modules' && isTestOrFolder(join(full, name)) && needsBuild(join(path, name)),
  );
}

const isTestOrFolder = (full) => /\.(test|spec)\.ts$/.test(full) || statSync(full).isDirectory();

class TestRun {
  totals = new Totals();

  constructor(node, variables) {
    this.node = node;
    this.env = {
      ...process.env,
      PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
      // Suites start the same programs again and again: they are compiled once.
      NODE_COMPILE_CACHE: join(root, '.cache', 'compile'),
      ...present(['iproute2']),
      ...variables,
    };
  }

  async check() {
    const log = join(artifacts, 'check.log');
    const command = [this.node, join(root, 'scripts', 'check.mjs')];
    const { status, seconds } = await run(command, {
      cwd: root,
      env: this.env,
      log,
      timeoutMs: LIMITS.check,
    });
    const failures = status === 0 ? [] : [{ name: 'check', text: tailOf(log, 200) }];
    this.totals.addSuite('check', seconds, {
      passed: status === 0 ? 1 : 0,
      failed: failures.length,
      skipped: 0,
      failures,
    });
  }

  /** Every project of vitest.config.ts. These tests need no other machine. */
  vitest(args) {
    const command = inOwnNetwork(this.env.SVC_TEST_IP, this.#vitestCommand(args));
    return this.#runVitest('vitest', command, LIMITS.vitest);
  }

  /** System tests download programs and start containers. */
  system(args) {
    const config = join('e2e', 'system', 'vitest.config.ts');
    return this.#runVitest('system', this.#vitestCommand(['--config', config, ...args]), LIMITS.system);
  }

  #vitestCommand(args) {
    return [this.node, modules('vitest', 'vitest.mjs'), 'run', ...args];
  }

  /** One vitest process over all projects of a configuration. Its reporter prints a line for each suite. */
  async #runVitest(name, command, timeoutMs) {
    const report = join(artifacts, `${name}.json`);
    const env = { ...this.env, SVC_TEST_REPORT: report };
    const { status, seconds, json } = await runWithReport(command, report, { cwd: root, env, timeoutMs });
    if (json === null) return this.#noReport(name, status, seconds);
    const { suites, failures, outside } = json;
    for (const suite of suites) this.totals.add(suite);
    this.totals.add({ passed: 0, failed: outside, skipped: 0, failures });
    if (status !== 0 && failures.length === 0) this.#noReport(name, status, seconds);
  }

  async browser(paths) {
    if (!this.env.CHROMIUM) {
      console.log('SKIPPED browser tests: there is no Chromium here (see the reason above)');
      return this.totals.add({ passed: 0, failed: 0, skipped: 1 });
    }
    const report = join(artifacts, 'browser.json');
    const log = join(artifacts, 'browser.log');
    const files = paths.map((path) => relative('e2e', path) || '.');
    const command = inOwnNetwork(this.env.SVC_TEST_IP, [
      ...[this.node, modules('playwright', 'cli.js'), 'test', '--config', 'e2e/playwright.config.ts'],
      ...files,
    ]);
    const env = { ...this.env, PLAYWRIGHT_JSON_OUTPUT_NAME: report };
    const options = { cwd: root, env, log, timeoutMs: LIMITS.browser };
    const { status, seconds, json } = await runWithReport(command, report, options);
    if (json === null) return this.#noReport('browser', status, seconds, log);
    const counts = readPlaywrightReport(json);
    this.totals.addSuite('browser', seconds, counts);
  }

  /** The ratios of the hot path against those that are recorded. */
  async benchGate() {
    const report = join(artifacts, 'bench-gate.json');
    const command = [this.node, join(root, 'scripts', 'bench.ts'), '--gate', '--report', report];
    const options = { cwd: root, env: this.env, timeoutMs: LIMITS.bench };
    const { status, seconds, json } = await runWithReport(command, report, options);
    if (json === null) return this.#noReport('bench', status, seconds);
    this.totals.addSuite('bench', seconds, json);
  }

  #noReport(name, status, seconds, log) {
    const text = `The runner ended with ${status} and without a usable report. ${tailOf(log)}`;
    this.totals.addSuite(name, seconds, { passed: 0, failed: 1, skipped: 0, failures: [{ name, text }] });
  }
}

/** `npm test`: everything that decides whether the product works. */
async function runAll() {
  const { node } = prepare({ build: false });
  const checking = new TestRun(node, {});
  const checked = checking.check();
  // Meanwhile the other processor builds and installs.
  prepare({ build: true });
  const testing = new TestRun(node, provide(PARTS));
  testing.totals = checking.totals;
  await checked;
  // The project `bookkeeping` is a step of the check. Browser tests mostly wait for pages, so that they run beside the others.
  await Promise.all([testing.vitest(['--project', '!bookkeeping']), testing.browser([])]);
  return testing.totals.close();
}

/** `npm test -- PATH…`: only these files and folders, without a build where none is needed. */
async function runPaths(paths) {
  const groups = groupPaths(paths);
  const isSystem = groups.system.length > 0;
  const build = isSystem || paths.some(needsBuild);
  const { node } = prepare({ build });
  const wanted = build ? provide(isSystem ? undefined : PARTS) : {};
  const testing = new TestRun(node, wanted);
  if (groups.vitest.length > 0) await testing.vitest(groups.vitest);
  if (groups.browser.length > 0) await testing.browser(groups.browser);
  if (groups.system.length > 0) await testing.system(groups.system);
  return testing.totals.close();
}

/** Vitest as a developer uses it: its own output, and the pinned Node. */
async function runVitest(args) {
  const { node } = prepare({ build: false });
  const { env } = new TestRun(node, {});
  const command = inOwnNetwork(env.SVC_TEST_IP, [node, modules('vitest', 'vitest.mjs'), ...args]);
  const { status } = await run(command, { cwd: root, env, timeoutMs: 24 * 60 * MINUTE });
  return status === 0 ? 0 : 1;
}

/** `npm run test:system`: installed packages, real third-party programs, fuzzing, and the bench gate when all else has ended. */
async function runSystem(paths, groups) {
  const { node } = prepare({ build: true });
  const testing = new TestRun(node, { ...provide(), SVC_TEST_WITH: groups.join(',') });
  await testing.system(paths);
  if (paths.length === 0) await testing.benchGate();
  return testing.totals.close();
}

const { mode, paths, ref, groups, error } = parseArguments(process.argv.slice(2));
if (error) stop(`${error}\n\n${USAGE}`);
mkdirSync(artifacts, { recursive: true });
const chosen = pathsFromRoot(paths);
const MODES = {
  all: () => (chosen.length > 0 ? runPaths(chosen) : runAll()),
  changed: () => runVitest(['run', '--passWithNoTests', ref === null ? '--changed' : `--changed=${ref}`]),
  watch: () => runVitest(['watch', ...chosen]),
  system: () => runSystem(chosen, groups),
};
process.exit(await MODES[mode]());
