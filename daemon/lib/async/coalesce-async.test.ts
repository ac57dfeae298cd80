import { expect, it } from 'vitest';
import { coalesceAsync } from './coalesce-async.ts';

/** Runs that the test ends. */
function bench() {
  const runs: { end: () => void; fail: (cause: Error) => void }[] = [];
  let atOnce = 0;
  let maxConcurrent = 0;
  const run = coalesceAsync(async () => {
    atOnce += 1;
    maxConcurrent = Math.max(maxConcurrent, atOnce);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    runs.push({ end: resolve, fail: reject });
    await promise.finally(() => {
      atOnce -= 1;
    });
  });
  return { run, runs, maxConcurrent: () => maxConcurrent };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

it('calls during a run share the next run', async () => {
  const { run, runs, maxConcurrent } = bench();
  const first = run();
  const [second, third] = [run(), run()];
  expect(runs).toHaveLength(1);
  runs[0]?.end();
  await first;
  await settled();
  expect(runs).toHaveLength(2);
  let isOver = false;
  void third.then(() => {
    isOver = true;
  });
  await settled();
  expect(isOver).toBe(false);
  runs[1]?.end();
  await Promise.all([second, third]);
  const fourth = run();
  expect([runs.length, maxConcurrent()]).toEqual([3, 1]);
  runs[2]?.end();
  await fourth;
});

it('a call between two runs joins the scheduled one', async () => {
  const { run, runs, maxConcurrent } = bench();
  const first = run();
  void run();
  const between = first.then(() => run());
  runs[0]?.end();
  await first;
  await settled();
  expect([runs.length, maxConcurrent()]).toEqual([2, 1]);
  runs[1]?.end();
  await settled();
  runs[2]?.end();
  await between;
});

it('a failed run rejects only for its own callers', async () => {
  const { run, runs } = bench();
  const [first, second] = [run(), run()];
  runs[0]?.fail(new Error('torn'));
  await expect(first).rejects.toThrow('torn');
  await settled();
  runs[1]?.end();
  await expect(second).resolves.toBeUndefined();
});
