import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const { readPlaywrightReport } = (await import(
  pathToFileURL(`${import.meta.dirname}/playwright-report.mjs`).href
)) as { readPlaywrightReport: (report: object) => object };

const spec = (title: string, ok: boolean, ...errors: string[]) => ({
  title,
  ok,
  file: 'a.spec.ts',
  line: 7,
  tests: [{ results: [{ errors: errors.map((message) => ({ message })) }] }],
});

test('specs at any depth and errors outside of them, with their whole text', () => {
  const report = {
    stats: { expected: 3, unexpected: 1, skipped: 2 },
    suites: [
      {
        specs: [spec('passes', true)],
        suites: [{ specs: [spec('fails', false, '\u001b[31mError: no\u001b[39m\nmore', 'second')] }],
      },
    ],
    errors: [{ message: 'no browser' }],
  };
  expect(readPlaywrightReport(report)).toEqual({
    passed: 3,
    failed: 2,
    skipped: 2,
    failures: [
      { name: 'browser: a.spec.ts:7 > fails', text: 'Error: no\nmore\nsecond' },
      { name: 'browser: outside of tests', text: 'no browser' },
    ],
  });
});

test('an empty report counts nothing', () => {
  expect(readPlaywrightReport({})).toEqual({ passed: 0, failed: 0, skipped: 0, failures: [] });
});
