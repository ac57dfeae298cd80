import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { scratch } from '../lib/testing/scratch.ts';
import { nodeAccess, readDeviceNodes } from './device-nodes.ts';
import { openTree } from './kernel-tree.ts';
import { fakeMachine } from './testing/fake-machine.ts';

test('maps nodes by address, not index, without connectors and display nodes', async () => {
  const machine = fakeMachine('intel-arc-npu');
  expect(Object.fromEntries(await readDeviceNodes(openTree(machine.root)))).toEqual({
    '0000:00:02.0': ['/dev/dri/renderD128'],
    '0000:03:00.0': ['/dev/dri/renderD129'],
    '0000:00:0b.0': ['/dev/accel/accel0'],
  });
  machine.remove();
});

test('distinguishes absent from present', async () => {
  const root = scratch();
  mkdirSync(join(root, 'dev/dri'), { recursive: true });
  writeFileSync(join(root, 'dev/dri/renderD128'), '');
  const state = nodeAccess(root);
  expect(await state('/dev/dri/renderD128')).toBe('ok');
  expect(await state('/dev/dri/renderD129')).toBe('absent');
});

test.skipIf(process.getuid?.() === 0)('distinguishes missing permission from absence', async () => {
  const root = scratch();
  writeFileSync(join(root, 'node'), '', { mode: 0 });
  expect(await nodeAccess(root)('/node')).toBe('denied');
});
