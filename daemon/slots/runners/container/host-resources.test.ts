import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { scratch } from '../../../lib/testing/scratch.ts';
import { containerLaunch } from '../../testing/launches.ts';
import { checkSources, hostPid, modelStamp, nodeGroups } from './host-resources.ts';

let folder = '';
beforeEach(() => {
  folder = scratch();
});

const mounting = (name: string) =>
  containerLaunch({ mounts: [{ source: join(folder, name), target: '/m', readOnly: true }] });

test('a missing file or device, and a name that cannot be mounted, are refused by their last part', () => {
  writeFileSync(join(folder, 'x.gguf'), '');
  writeFileSync(join(folder, 'a,b.gguf'), '');
  expect(() => checkSources(mounting('x.gguf'))).not.toThrow();
  expect(() => checkSources(mounting('y.gguf'))).toThrow('The file y.gguf is absent.');
  expect(() => checkSources(mounting('a,b.gguf'))).toThrow('a,b.gguf contains characters');
  const device = { by: 'node', path: join(folder, 'kfd') } as const;
  expect(() => checkSources(containerLaunch({ devices: [device] }))).toThrow('no kfd device');
});

test('only groups of device nodes are used', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(
    nodeGroups([
      { by: 'node', path: folder },
      { by: 'cdi', name: 'x' },
    ]),
  ).toEqual([]);
});

test('the stamp changes with the file', () => {
  const file = join(folder, 'x');
  writeFileSync(file, 'a');
  const before = modelStamp(file);
  expect(modelStamp(file)).toBe(before);
  utimesSync(file, 1, 1);
  expect(modelStamp(file)).not.toBe(before);
  expect(modelStamp(null)).toBe('');
  expect(modelStamp(join(folder, 'none'))).toBe('');
});

test('a pid counts only with the container in its control group', () => {
  mkdirSync(join(folder, '42'));
  writeFileSync(join(folder, '42', 'cgroup'), '0::/machine/libpod-abcdef\n');
  expect(hostPid(42, 'abcdef', folder)).toBe(42);
  expect(hostPid(42, 'fedcba', folder)).toBeNull();
  expect(hostPid(43, 'abcdef', folder)).toBeNull();
  expect(hostPid(0, 'abcdef', folder)).toBeNull();
});
