import { expect, test } from 'vitest';
import { runCommand } from '../process/run-command.ts';

const module = JSON.stringify(new URL('./pin-tick-shape.ts', import.meta.url).href);
const program = `
  import { executionAsyncResource } from 'node:async_hooks';
  const { pinTickShape, pinned } = await import(${module});
  const tick = () => new Promise((resolve) => process.nextTick(() => resolve(executionAsyncResource())));
  pinTickShape();
  const rests = [];
  for (let time = 0; time < 4; time++) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    gc();
    rests.push(%HaveSameMap(pinned.tick, await tick()));
  }
  console.log(JSON.stringify({ rests, fields: Object.keys(pinned.tick).sort() }));
`;

test('retains a tick object, and later ones keep its hidden class across collections', async () => {
  const flags = ['--expose-gc', '--allow-natives-syntax', '--input-type=module', '-e', program];
  const { stdout, stderr } = await runCommand(process.execPath, flags, { timeoutMs: 20_000, maxBytes: 4096 });
  expect(JSON.parse(stdout || stderr)).toEqual({
    rests: [true, true, true, true],
    fields: ['args', 'callback'],
  });
});
