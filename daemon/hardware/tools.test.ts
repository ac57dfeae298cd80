import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { looseNumber, toolProblem, tools } from './tools.ts';

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

test('a missing tool and a success are not problems', () => {
  expect(toolProblem({ ...result, code: null, missing: true })).toBeNull();
  expect(toolProblem(result)).toBeNull();
});

test('a failure is one line', () => {
  expect(toolProblem({ ...result, code: 9, stdout: '\nfirst\nsecond' })).toBe('first');
  expect(toolProblem({ ...result, code: 1, stderr: 'only here\n' })).toBe('only here');
  expect(toolProblem({ ...result, code: 1 })).toBe('ended with status 1');
  expect(toolProblem({ ...result, code: null, timedOut: true })).toBe('no answer within 3 s');
});

test('does not start a tool again while its last process cannot be ended', async () => {
  const folder = scratch();
  const starts = join(folder, 'starts');
  const file = join(folder, 'stuck');
  writeFileSync(file, `#!/bin/sh\necho $$ >> ${starts}\nexec sleep 600\n`);
  chmodSync(file, 0o755);
  const pids = () => readFileSync(starts, 'utf8').trim().split('\n').map(Number);
  const tool = tools(`${folder}:${process.env.PATH}`, undefined, 500);
  const deaf = vi.spyOn(process, 'kill').mockReturnValue(true);
  await tool('stuck', []);
  expect(await tool('stuck', [])).toMatchObject({ code: null, timedOut: true });
  deaf.mockRestore();
  expect(pids()).toHaveLength(1);
  process.kill(pids()[0] as number, 'SIGKILL');
  await vi.waitFor(async () => {
    await tool('stuck', []);
    expect(pids()).toHaveLength(2);
  }, 20_000);
}, 40_000);
