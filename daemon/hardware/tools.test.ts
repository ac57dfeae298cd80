import { expect, test } from 'vitest';
import { looseNumber, toolProblem } from './tools.ts';

const result = { code: 0, stdout: '', stderr: '', timedOut: false, missing: false };

test.each([
  ['12', 12],
  [' 3.5 ', 3.5],
  [0, 0],
  ['0', 0],
  ['[N/A]', null],
  ['N/A', null],
  ['[Not Supported]', null],
  ['', null],
  [null, null],
  [Number.NaN, null],
])('%j is %j', (value, expected) => {
  expect(looseNumber(value)).toBe(expected);
});

test('not installed is no problem, and neither is success', () => {
  expect(toolProblem({ ...result, code: null, missing: true })).toBeNull();
  expect(toolProblem(result)).toBeNull();
});

test('a failure is told in one line', () => {
  expect(toolProblem({ ...result, code: 9, stdout: '\nfirst\nsecond' })).toBe('first');
  expect(toolProblem({ ...result, code: 1, stderr: 'only here\n' })).toBe('only here');
  expect(toolProblem({ ...result, code: 1 })).toBe('ended with status 1');
  expect(toolProblem({ ...result, code: null, timedOut: true })).toBe('no answer within 3 s');
});
