import { expect, test } from 'vitest';
import type { ContainerState } from '../../../lib/container-engine/container-engine.ts';
import { exitOf } from './watch.ts';

const state = (over: Partial<ContainerState>): ContainerState => ({
  id: 'a',
  running: false,
  pid: 0,
  exitCode: 0,
  outOfMemory: false,
  error: '',
  labels: {},
  ports: {},
  ...over,
});

test.each([
  [
    state({ exitCode: 3 }),
    ['loading', 'error: no such file /models/x.gguf'],
    /code 3.*error: no such file x\.gguf/,
  ],
  [state({ exitCode: 137 }), [], /SIGKILL/],
  [state({ exitCode: 137, outOfMemory: true }), [], /more memory/],
  [state({ exitCode: 139 }), [], /SIGSEGV/],
  [state({ exitCode: 255 }), [], /code 255/],
  [state({ exitCode: 127, error: 'exec: "x": not found' }), [], /not found/],
  [null, [], /removed by another program/],
])('%j with %j', (exit, lines, reason) => {
  expect(exitOf(exit, lines).reason).toMatch(reason);
});

test('an exit code above 128 is the signal', () => {
  expect(exitOf(state({ exitCode: 143 }), [])).toMatchObject({ code: null, signal: 'SIGTERM' });
  expect(exitOf(state({ exitCode: 7 }), [])).toMatchObject({ code: 7, signal: null });
});
