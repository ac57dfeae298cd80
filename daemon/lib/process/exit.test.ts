import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { scratch } from '../testing/scratch.ts';
import { forceExit } from './exit.ts';

const LEAVE = fileURLToPath(new URL('./exit.ts', import.meta.url));

/** Exits in a separate process, after `before`. */
const exitOf = (code: number, before: string) => {
  const text = `import { open, readFile } from 'node:fs/promises';
import { ${forceExit.name} } from ${JSON.stringify(LEAVE)};
process.on('SIGTERM', () => {});
${before}
await ${forceExit.name}(${code});`;
  const args = ['--input-type=module', '--eval', text];
  const { status, signal } = spawnSync(process.execPath, args, { timeout: 20_000, killSignal: 'SIGABRT' });
  return { status, signal };
};

test('a process exits with its code, also with pending file operations', () => {
  expect(exitOf(3, `readFile(${JSON.stringify(LEAVE)});`)).toEqual({ status: 3, signal: null });
});

test.each([
  [0, 'SIGTERM'],
  [1, 'SIGKILL'],
])('with code %i it ends by %s when a file never opens', (code, signal) => {
  const pipe = join(scratch(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  expect(exitOf(code, `open(${JSON.stringify(pipe)});`)).toEqual({ status: null, signal });
});
