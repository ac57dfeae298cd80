import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { leave } from './leave.ts';
import { runCommand } from './run-command.ts';
import { scratch } from './testing/scratch.ts';

const LEAVE = fileURLToPath(new URL('./leave.ts', import.meta.url));

/** Leaves in a process of its own, after `before`. */
const left = (before: string) => {
  const text = `import { open, readFile } from 'node:fs/promises';
import { ${leave.name} } from ${JSON.stringify(LEAVE)};
process.on('SIGTERM', () => {});
${before}
await leave(3);`;
  const limits = { timeoutMs: 20_000, maxBytes: 10_000 };
  return runCommand(process.execPath, ['--input-type=module', '--eval', text], limits);
};

test('a process leaves with its code, also with work on files under way', async () => {
  expect(await left(`readFile(${JSON.stringify(LEAVE)});`)).toMatchObject({ code: 3, timedOut: false });
});

test('it leaves although a file never opens', async () => {
  const pipe = join(scratch(), 'pipe');
  await runCommand('mkfifo', [pipe], { timeoutMs: 10_000, maxBytes: 0 });
  expect(await left(`open(${JSON.stringify(pipe)});`)).toMatchObject({ code: null, timedOut: false });
});
