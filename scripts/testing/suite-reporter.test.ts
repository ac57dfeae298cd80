/** The reporter in a real vitest run over small files. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { scratchOfFile } from '../../daemon/lib/testing/scratch.ts';
import type { SuiteReport } from './counts.ts';

const root = join(import.meta.dirname, '..', '..');

/** Runs vitest over `files` in a project called `small`. */
function runVitest(files: Readonly<Record<string, string>>) {
  const folder = scratchOfFile();
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
const { status, stdout, report } = runVitest({
  'counts.test.ts': `${HEAD}console.warn('SKIPPED, no device');console.log('chatter');
test('passes', () => {}); test.skip('waits', () => {}); test('fails', () => { expect({ a: 1 }).toEqual({ a: 2 }); });`,
  'seeds.test.ts': `${HEAD}console.info('names: SVC_TEST_SEED=17');
test('fails', () => { console.info('sizes: SVC_TEST_SEED=4'); expect(1).toBe(2); });`,
  'other-seed.test.ts': `${HEAD}test('passes', () => { console.info('other: SVC_TEST_SEED=9'); });`,
  'hook.test.ts': `import { beforeAll, describe, test } from 'vitest';
describe('group', () => { beforeAll(() => { throw new Error('no engine'); }); test('waits', () => {}); });`,
  'file-hook.test.ts': `import { beforeAll, test } from 'vitest';
beforeAll(() => { throw new Error('no gateway'); }); test('waits', () => {});`,
  'absent.test.ts': `import './absent.ts';`,
  'stray.test.ts': `${HEAD}test('passes', () => { void Promise.reject(new Error('stray')); });`,
});
const textOf = (name: string) => report.failures.find((failure) => failure.name === name)?.text ?? '';

test('counts passed, failed and skipped tests in one line', () => {
  expect(status).not.toBe(0);
  expect(report.suites).toMatchObject([{ name: 'small', passed: 3, failed: 5, skipped: 3 }]);
  expect(stdout).toMatch(/^small +\d+\.\d s {2}3 passed, 5 failed, 3 skipped$/m);
});

test('keeps the whole text of a failure, and hides other output', () => {
  expect(textOf('small: tests/counts.test.ts > fails')).toMatch(
    /expected \{ a: 1 \}[\s\S]*"a": 2[\s\S]*at tests\/counts\.test\.ts:/,
  );
  expect(stdout).toContain('FAILED small: tests/counts.test.ts > fails');
  expect(stdout).toContain('SKIPPED, no device');
  expect(stdout).not.toContain('chatter');
});

test('a failure names the seeds of its file, and of no other', () => {
  const text = textOf('small: tests/seeds.test.ts > fails');
  expect(text.split('\n').slice(-2)).toEqual(['names: SVC_TEST_SEED=17', 'sizes: SVC_TEST_SEED=4']);
  expect(JSON.stringify(report.failures)).not.toContain('SEED=9');
  expect(stdout).not.toContain('SVC_TEST_SEED');
});

test('a hook that fails is a failure with its text, inside and outside of a describe', () => {
  expect(textOf('small: tests/hook.test.ts > group').split('\n')[0]).toBe('no engine');
  expect(textOf('small: tests/file-hook.test.ts > the file').split('\n')[0]).toBe('no gateway');
});

test('a file that cannot be loaded and an error outside of tests are failures', () => {
  expect(textOf('small: tests/absent.test.ts > the file')).toContain('absent.ts');
  expect(textOf('outside of tests')).toContain('stray');
  expect(report.outside).toBe(1);
});
