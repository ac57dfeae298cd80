import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';

type Failures = (report: object) => { name: string; why: string }[];
type Names = 'playwrightFailures' | 'vitestFailures' | 'playwrightAgain' | 'vitestAgain';
const { playwrightAgain, playwrightFailures, vitestAgain, vitestFailures } = (await import(
  pathToFileURL(`${import.meta.dirname}/failures.mjs`).href
)) as Record<Names, Failures>;

describe('what failed', () => {
  it('in vitest: each failed test with the first line of its reason, and files that did not run', () => {
    const report = {
      testResults: [
        {
          name: '/somewhere/daemon/kit/a.test.ts',
          status: 'failed',
          message: '',
          assertionResults: [
            { status: 'passed', fullName: 'a is', failureMessages: [] },
            {
              status: 'failed',
              fullName: 'a is not',
              failureMessages: ['\u001b[31mAssertionError: 1\u001b[39m\n  at x'],
            },
          ],
        },
        {
          name: '/somewhere/b.test.ts',
          status: 'failed',
          message: '\nno such module\n',
          assertionResults: [],
        },
        { name: '/somewhere/c.test.ts', status: 'passed', message: '', assertionResults: [] },
      ],
    };
    expect(vitestFailures(report)).toEqual([
      { name: 'daemon/kit/a.test.ts > a is not', why: 'AssertionError: 1' },
      { name: '/somewhere/b.test.ts', why: 'no such module' },
    ]);
    expect(vitestFailures({})).toEqual([]);
  });

  it('in Playwright: specs at any depth, and what failed outside of them', () => {
    const spec = (title: string, ok: boolean, message?: string) => ({
      title,
      ok,
      file: 'a.spec.ts',
      line: 7,
      tests: [{ results: message === undefined ? [{}] : [{ error: { message } }] }],
    });
    const report = {
      suites: [{ specs: [spec('well', true)], suites: [{ specs: [spec('ill', false, 'Error: no\nmore')] }] }],
      errors: [{ message: 'no browser' }],
    };
    expect(playwrightFailures(report)).toEqual([
      { name: 'a.spec.ts:7 > ill', why: 'Error: no' },
      { name: 'outside of tests', why: 'no browser' },
    ]);
  });
});

describe('what passed at a second try', () => {
  it('in vitest: each test that passed and keeps the reason of its first try', () => {
    const tests = [
      { status: 'passed', fullName: 'a is', failureMessages: [] },
      { status: 'passed', fullName: 'b is, later', failureMessages: ['Error: not yet\n  at x'] },
      { status: 'failed', fullName: 'c is not', failureMessages: ['Error: no', 'Error: no'] },
    ];
    const file = { name: '/somewhere/daemon/kit/a.test.ts', status: 'failed', assertionResults: tests };
    expect(vitestAgain({ testResults: [file] })).toEqual([
      { name: 'daemon/kit/a.test.ts > b is, later', why: 'Error: not yet' },
    ]);
    expect(vitestAgain({})).toEqual([]);
  });

  it('in Playwright: what it calls flaky', () => {
    const spec = (title: string, status: string) => ({
      title,
      ok: status !== 'unexpected',
      file: 'a.spec.ts',
      line: 7,
      tests: [{ status, results: [{ error: { message: 'Error: not yet' } }, {}] }],
    });
    const specs = [spec('well', 'expected'), spec('later', 'flaky'), spec('ill', 'unexpected')];
    expect(playwrightAgain({ suites: [{ specs }] })).toEqual([
      { name: 'a.spec.ts:7 > later', why: 'Error: not yet' },
    ]);
  });
});
