import { expect, test } from 'vitest';
import type { EngineInfo } from '../../../lib/container-engine/engine-info.ts';
import type { ContainerDevice } from '../../engines/run-spec.ts';
import { deviceConfig } from './devices.ts';

const engineInfo = (over: Partial<EngineInfo>): EngineInfo => ({
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
  expect(deviceConfig([], [], engineInfo({}))).toEqual({});
});

test('device nodes come with the numeric groups that may open them', () => {
  expect(deviceConfig([node('/dev/kfd'), node('/dev/dri')], [44, 109], engineInfo({}))).toEqual({
    Devices: ['/dev/kfd', '/dev/dri'].map((path) => ({
      PathOnHost: path,
      PathInContainer: path,
      CgroupPermissions: 'rwm',
    })),
    GroupAdd: ['44', '109'],
  });
});

test('a rootless engine keeps the groups of its user where supported', () => {
  const groups = (kind: EngineInfo['kind']) =>
    deviceConfig([node('/dev/dri')], [44], engineInfo({ kind, rootless: true })).GroupAdd;
  expect(groups('podman')).toEqual(['keep-groups']);
  expect(groups('docker')).toEqual([]);
});

test('an NPU may lock memory, where the container engine can grant that', () => {
  expect(deviceConfig([node('/dev/accel')], [], engineInfo({})).Ulimits).toEqual([
    { Name: 'memlock', Soft: -1, Hard: -1 },
  ]);
  expect(deviceConfig([node('/dev/accel')], [], engineInfo({ rootless: true })).Ulimits).toBeUndefined();
});

test('a GPU by its CDI name, or through the runtime of NVIDIA in Docker', () => {
  expect(deviceConfig([gpu], [], engineInfo({})).DeviceRequests).toEqual([
    { Driver: 'cdi', DeviceIDs: ['nvidia.com/gpu=1'], Capabilities: [] },
  ]);
  const docker = engineInfo({ kind: 'docker', runtimes: ['runc', 'nvidia'], cdi: false });
  expect(deviceConfig([gpu], [], docker).DeviceRequests).toEqual([
    { Driver: 'nvidia', DeviceIDs: ['1'], Capabilities: [['gpu']] },
  ]);
});

test('an engine that cannot pass a GPU is an error with the fix', () => {
  expect(() => deviceConfig([gpu], [], engineInfo({ version: '4.3.1', cdi: false }))).toThrow(/version 5/);
  expect(() => deviceConfig([gpu], [], engineInfo({ kind: 'docker', cdi: false }))).toThrow(
    /NVIDIA Container Toolkit/,
  );
});
