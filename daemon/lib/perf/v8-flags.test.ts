import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { FLAGS, START_FLAG } from './v8-flags.ts';

/** V8 passes over a name that it does not know when it is told later: on a new Node a setting could be lost unseen. */
test.each([START_FLAG, ...FLAGS])('%s is a setting of this V8', (flag) => {
  const { status, stderr } = spawnSync(process.execPath, [flag, '-e', '0'], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

test('a name that V8 has not is refused', () => {
  expect(spawnSync(process.execPath, ['--no-such-setting-of-v8', '-e', '0']).status).not.toBe(0);
});
