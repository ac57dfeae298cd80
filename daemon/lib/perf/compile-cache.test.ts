import { expect, test } from 'vitest';
import { runCommand } from '../process/run-command.ts';
import { scratch } from '../testing/scratch.ts';

const module = JSON.stringify(new URL('./compile-cache.ts', import.meta.url).href);
const print = `console.log(JSON.stringify((await import(${module})).compileCacheEnv()))`;
const limits = { timeoutMs: 10_000, maxBytes: 4096 };
const run = (env: Record<string, string>) =>
  runCommand(process.execPath, ['--input-type=module', '-e', print], { ...limits, env });

test('returns the folder of this process, or nothing without one', async () => {
  const folder = scratch();
  const inherited = await run({ NODE_COMPILE_CACHE: folder });
  const none = await run({});
  expect(JSON.parse(inherited.stdout)).toEqual({ NODE_COMPILE_CACHE: folder });
  expect(JSON.parse(none.stdout)).toEqual({});
});
