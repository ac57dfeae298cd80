/** The reporter in a real vitest run over small files of its own. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { scratch } from '../../daemon/lib/testing/scratch.ts';
import type { SuiteReport } from './counts.ts';

const root = join(import.meta.dirname, '..', '..');

/** Runs vitest over `files` in a project called `small`. */
function runVitest(files: Readonly<Record<string, string>>) {
  const folder = scratch();
  mkdirSync(join(folder, 'tests'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'tests', name), text);
  const reporters = pathToFileURL(join(root, 'scripts', 'testing', 'reporters.ts')).href;
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { reporters } from '${reporters}';
export default { test: { reporters: reporters(), projects: [{ test: { name: 'small', include: ['tests/*.test.ts'] } }] } };`,
  );
  const report = join(folder, 'report.json');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { status, stdout } = spawnSync(process.execPath, [vitest, 'run'], {
    cwd: folder,
    env: { ...process.env, SVC_TEST_REPORT: report },
    encoding: 'utf8',
  });
  return { status, stdout, report: JSON.parse(readFileSync(report, 'utf8')) as SuiteReport };
}

const HEAD = "import { expect, test } from 'vitest';\n";

test('counts passed, failed and skipped tests, and keeps the whole text of a failure', () => {
  const { status, stdout, report } = runVitest({
    'a.test.ts': `${HEAD}console.warn('SKIPPED, no device');console.log('chatter');
test('passes', () => {}); test.skip('waits', () => {}); test('fails', () => { expect({ a: 1 }).toEqual({ a: 2 }); });`,
  });
  expect(status).not.toBe(0);
  expect(report.suites).toMatchObject([{ name: 'small', passed: 1, failed: 1, skipped: 1 }]);
  expect(report.failures[0]?.name).toBe('small: tests/a.test.ts > fails');
  expect(report.failures[0]?.text).toMatch(/expected \{ a: 1 \}[\s\S]*"a": 2[\s\S]*at tests\/a\.test\.ts:/);
  expect(stdout).toMatch(/^small +\d+\.\d s {2}1 passed, 1 failed, 1 skipped$/m);
  expect(stdout).toContain('SKIPPED, no device');
  expect(stdout).not.toContain('chatter');
});

test('a failure names the seeds of its file, and of no other', () => {
  const { stdout, report } = runVitest({
    'a.test.ts': `${HEAD}console.info('names: SVC_TEST_SEED=17');
test('fails', () => { console.info('sizes: SVC_TEST_SEED=4'); expect(1).toBe(2); });`,
    'b.test.ts': `${HEAD}test('passes', () => { console.info('other: SVC_TEST_SEED=9'); });`,
  });
  expect(report.failures[0]?.text.split('\n').slice(-2)).toEqual([
    'names: SVC_TEST_SEED=17',
    'sizes: SVC_TEST_SEED=4',
  ]);
  expect(report.failures[0]?.text).not.toContain('SEED=9');
  expect(stdout).not.toContain('SVC_TEST_SEED');
});

test('a hook that fails is a failure with its text, inside and outside of a describe', () => {
  const { report } = runVitest({
    'a.test.ts': `import { beforeAll, describe, test } from 'vitest';
describe('group', () => { beforeAll(() => { throw new Error('no engine'); }); test('waits', () => {}); });`,
    'b.test.ts': `import { beforeAll, test } from 'vitest';
beforeAll(() => { throw new Error('no gateway'); }); test('waits', () => {});`,
  });
  expect(report.suites).toMatchObject([{ passed: 0, failed: 2, skipped: 2 }]);
  const texts = Object.fromEntries(report.failures.map(({ name, text }) => [name, text.split('\n')[0]]));
  expect(texts).toEqual({
    'small: tests/a.test.ts > group': 'no engine',
    'small: tests/b.test.ts > the file': 'no gateway',
  });
});

test('a file that cannot be loaded and an error outside of tests are failures', () => {
  const { report } = runVitest({
    'a.test.ts': `import './absent.ts';`,
    'b.test.ts': `${HEAD}test('passes', () => { void Promise.reject(new Error('stray')); });`,
  });
  expect(report.suites).toMatchObject([{ passed: 1, failed: 1 }]);
  expect(report.failures.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['small: tests/a.test.ts > the file', 'outside of tests']),
  );
  expect(report.outside).toBe(1);
});
