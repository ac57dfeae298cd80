import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';
import { Counts, type Failure, type SuiteReport } from './counts.ts';
import { checkFaultRows } from './fault-rows.ts';

interface ReportedError {
  readonly message: string;
  readonly diff?: string;
  readonly stack?: string;
}

const ROOT = process.cwd();
const FAULTS = join(ROOT, 'docs', 'internals', 'client-faults.md');
/** Lines of a stack that lie in this repository; more of them say little. */
const MAX_STACK_LINES = 8;
/** Console lines that say why a test did not run. They are printed even where the output of a test is hidden. */
const SKIP_REASON = /^(SKIPPED|NOT STRICT)/;
/** Console lines with the seed of a random test. A failure of the same file repeats them. */
const SEED = /\bSVC_TEST_SEED=-?\d+$/;

function stackOf(stack = ''): string[] {
  return stripVTControlCharacters(stack)
    .split('\n')
    .filter((line) => line.trimStart().startsWith('at ') && !/node_modules|<anonymous>/.test(line))
    .map((line) => line.replace(`file://${ROOT}/`, '').replace(`${ROOT}/`, ''))
    .slice(0, MAX_STACK_LINES);
}

/** The whole text of an error: message, difference, and the part of its stack that lies in this repository. */
const textOf = ({ message, diff, stack }: ReportedError): string =>
  [
    stripVTControlCharacters(message),
    ...(diff ? [stripVTControlCharacters(diff)] : []),
    ...stackOf(stack),
  ].join('\n');

/**
 * One line for each suite when its last file has ended; the counts and all failures as JSON in `SVC_TEST_REPORT`.
 * A row of `docs/internals/client-faults.md` with too few inputs is a failure.
 */
export class SuiteReporter implements Reporter {
  readonly #counts = new Map<string, Counts>();
  readonly #open = new Map<string, number>();
  /** Names of the tests of each file that has run. */
  readonly #names = new Map<string, string[]>();
  readonly #failures: Failure[] = [];
  readonly #seeds: { readonly taskId: string; readonly line: string }[] = [];

  onTestRunStart(specifications: ReadonlyArray<{ project: { name: string } }>): void {
    for (const { project } of specifications) {
      this.#open.set(project.name, (this.#open.get(project.name) ?? 0) + 1);
    }
  }

  onTestModuleStart(module: TestModule): void {
    this.#suite(module).begin();
    this.#names.set(relative(ROOT, module.moduleId), []);
  }

  onUserConsoleLog({ content, taskId = '' }: { content: string; taskId?: string }): void {
    for (const line of content.split('\n')) {
      if (SKIP_REASON.test(line)) console.log(line);
      if (SEED.test(line)) this.#seeds.push({ taskId, line });
    }
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    const suite = this.#suite(test.module);
    this.#names.get(relative(ROOT, test.module.moduleId))?.push(test.fullName);
    if (state === 'passed') suite.passed += 1;
    else if (state === 'skipped') suite.skipped += 1;
    else if (state === 'failed') this.#fail(test.module, test.fullName, errors ?? []);
  }

  /** A hook of a `describe` has failed: its tests are skipped and have no error of their own. */
  onTestSuiteResult(describe: TestSuite): void {
    for (const error of describe.errors()) this.#fail(describe.module, describe.fullName, [error]);
  }

  onTestModuleEnd(module: TestModule): void {
    for (const error of module.errors()) this.#fail(module, 'the file', [error]);
    // The inputs of a file that does not load are unknown.
    if (module.errors().length > 0) this.#names.delete(relative(ROOT, module.moduleId));
    const { name } = module.project;
    const suite = this.#suite(module);
    suite.end();
    const left = (this.#open.get(name) ?? 1) - 1;
    this.#open.set(name, left);
    if (left === 0) console.log(suite.line());
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly ReportedError[]): void {
    for (const error of unhandled) {
      this.#failures.push({ name: 'outside of tests', text: textOf(error) });
    }
    const suites = [...this.#counts.values()].map((suite) => suite.json());
    const faults = existsSync(FAULTS) ? checkFaultRows(readFileSync(FAULTS, 'utf8'), this.#names) : null;
    if (faults !== null) {
      suites.push(faults.counts);
      this.#failures.push(...faults.failures);
    }
    const report: SuiteReport = {
      suites,
      outside: unhandled.length,
      failures: this.#failures,
    };
    const file = process.env.SVC_TEST_REPORT;
    if (file) writeFileSync(file, JSON.stringify(report));
  }

  #suite({ project }: TestModule): Counts {
    const known = this.#counts.get(project.name);
    if (known) return known;
    const counts = new Counts(project.name);
    this.#counts.set(project.name, counts);
    return counts;
  }

  #fail(module: TestModule, test: string, errors: readonly ReportedError[]): void {
    const suite = this.#suite(module);
    suite.failed += 1;
    const name = this.#nameOf(module, test);
    console.log(`FAILED ${suite.name}: ${name}`);
    const text = [...errors.map(textOf), ...this.#seedsOf(module)].join('\n');
    this.#failures.push({ name: `${suite.name}: ${name}`, text });
  }

  /** The id of a test begins with the id of its file. */
  #seedsOf({ id }: TestModule): string[] {
    return this.#seeds.filter(({ taskId }) => taskId.startsWith(id)).map(({ line }) => line);
  }

  #nameOf(module: TestModule, test: string): string {
    return `${relative(ROOT, module.moduleId)} > ${test}`;
  }
}
