import { once } from 'node:events';
import { openSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { streamCommand } from './stream-command.ts';

const neverAborted = new AbortController().signal;

test('input flows through a program', async () => {
  const run = streamCommand('cat', [], { input: 'pipe', signal: neverAborted });
  run.input?.end('hello');
  expect((await buffer(run.output)).toString()).toBe('hello');
  expect(await run.ended).toEqual({ code: 0, missing: false, stderrTail: '' });
});

test('accepts an open file as input, also an unlinked one', async () => {
  const path = join(tmpdir(), `svc-stream-${process.pid}`);
  writeFileSync(path, 'from a file');
  const file = openSync(path, 'r');
  unlinkSync(path);
  const run = streamCommand('cat', ['/proc/self/fd/0'], { input: file, signal: neverAborted });
  expect((await buffer(run.output)).toString()).toBe('from a file');
});

test('returns the end of stderr', async () => {
  const run = streamCommand('sh', ['-c', 'echo no >&2; exit 3'], { input: 'ignore', signal: neverAborted });
  run.output.resume();
  expect(await run.ended).toEqual({ code: 3, missing: false, stderrTail: 'no' });
});

test('reports a missing program', async () => {
  const run = streamCommand('no-such-program-here', [], { input: 'pipe', signal: neverAborted });
  run.output.resume();
  run.input?.end('x');
  expect(await run.ended).toMatchObject({ code: null, missing: true });
});

test('an abort ends it and its children', async () => {
  const control = new AbortController();
  const run = streamCommand('sh', ['-c', 'sleep 60 & echo on; wait'], {
    input: 'ignore',
    signal: control.signal,
  });
  await once(run.output, 'data');
  control.abort();
  expect((await run.ended).code).toBeNull();
});

test('does not start when aborted before', async () => {
  const run = streamCommand('sh', ['-c', 'echo on'], { input: 'ignore', signal: AbortSignal.abort() });
  expect((await buffer(run.output)).length).toBe(0);
  expect((await run.ended).code).toBeNull();
});
