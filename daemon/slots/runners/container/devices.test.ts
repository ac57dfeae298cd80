import { expect, test } from 'vitest';
import type { EngineInfo } from '../../../lib/container-engine/engine-info.ts';
import type { ContainerDevice } from '../../engines/run-spec.ts';
import { deviceConfig } from './devices.ts';

const about = (over: Partial<EngineInfo>): EngineInfo => ({
  kind: 'podman',
  version: '5.4.2',
  api: '1.41',
  rootless: false,
  runtimes: [],
  cdi: true,
  ...over,
});
const gpu: ContainerDevice = { by: 'cdi', name: 'nvidia.com/gpu=1' };
const node = (path: string): ContainerDevice => ({ by: 'node', path });

test('no devices: nothing is requested', () => {
  expect(deviceConfig([], [], about({}))).toEqual({});
});

test('device nodes come with the numeric groups that may open them', () => {
  expect(deviceConfig([node('/dev/kfd'), node('/dev/dri')], [44, 109], about({}))).toEqual({
    Devices: ['/dev/kfd', '/dev/dri'].map((path) => ({
      PathOnHost: path,
      PathInContainer: path,
      CgroupPermissions: 'rwm',
    })),
    GroupAdd: ['44', '109'],
  });
});

test('a rootless engine keeps the groups of its user, as far as it can', () => {
  const groups = (kind: EngineInfo['kind']) =>
    deviceConfig([node('/dev/dri')], [44], about({ kind, rootless: true })).GroupAdd;
  expect(groups('podman')).toEqual(['keep-groups']);
  expect(groups('docker')).toEqual([]);
});

test('an NPU may lock memory, where the container engine can grant that', () => {
  expect(deviceConfig([node('/dev/accel')], [], about({})).Ulimits).toEqual([
    { Name: 'memlock', Soft: -1, Hard: -1 },
  ]);
  expect(deviceConfig([node('/dev/accel')], [], about({ rootless: true })).Ulimits).toBeUndefined();
});

test('a GPU by its CDI name, or through the runtime of NVIDIA in Docker', () => {
  expect(deviceConfig([gpu], [], about({})).DeviceRequests).toEqual([
    { Driver: 'cdi', DeviceIDs: ['nvidia.com/gpu=1'], Capabilities: [] },
  ]);
  const docker = about({ kind: 'docker', runtimes: ['runc', 'nvidia'], cdi: false });
  expect(deviceConfig([gpu], [], docker).DeviceRequests).toEqual([
    { Driver: 'nvidia', DeviceIDs: ['1'], Capabilities: [['gpu']] },
  ]);
});

test('an engine that cannot pass it is an error with the fix', () => {
  expect(() => deviceConfig([gpu], [], about({ version: '4.3.1', cdi: false }))).toThrow(/version 5/);
  expect(() => deviceConfig([gpu], [], about({ kind: 'docker', cdi: false }))).toThrow(
    /NVIDIA Container Toolkit/,
  );
});
