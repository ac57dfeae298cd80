import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { FLAGS, START_FLAG } from './v8-flags.ts';

/** V8 ignores an unknown flag at run time: on a new Node version a flag could be lost unnoticed. */
test.each([START_FLAG, ...FLAGS])('%s is a flag of this V8', (flag) => {
  const { status, stderr } = spawnSync(process.execPath, [flag, '-e', '0'], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

test('refuses an unknown flag', () => {
  expect(spawnSync(process.execPath, ['--no-such-setting-of-v8', '-e', '0']).status).not.toBe(0);
});
