import { expect, test } from 'vitest';
import { decideAccess, nodesToCheck } from './access.ts';
import { type DeviceInfo, newDevice } from './device-facts.ts';

const device = (vendor: DeviceInfo['vendor'], values: Partial<DeviceInfo>): DeviceInfo => ({
  ...newDevice({ id: '0000:01:00.0', kind: 'gpu', vendor, vendorId: 1, deviceId: 2 }),
  ...values,
});

test.each([
  ['usable', device('amd', { driver: 'amdgpu' }), ['ok'], 'ok'],
  ['denied', device('amd', { driver: 'amdgpu' }), ['denied'], 'no_permission'],
  ['hidden by a sandbox', device('amd', { driver: 'amdgpu' }), ['absent'], 'no_permission'],
  ['one of two denied', device('amd', { driver: 'amdgpu' }), ['ok', 'denied'], 'no_permission'],
  ['no known node', device('amd', { driver: 'amdgpu' }), [], 'unknown'],
  ['no driver', device('amd', {}), ['ok'], 'no_driver'],
  ['nouveau', device('nvidia', { driver: 'nouveau' }), ['ok'], 'no_driver'],
  ['the tool responded', device('nvidia', { driver: 'nvidia', toolAnswered: true }), ['absent'], 'ok'],
  ['the tool failed', device('nvidia', { driver: 'nvidia', toolProblem: 'no' }), ['ok'], 'no_driver'],
  ['no tool, node open', device('nvidia', { driver: 'nvidia' }), ['ok'], 'ok'],
  ['Rockchip', device('rockchip', { driver: 'rknpu' }), [], 'unknown'],
] as const)('%s', (_, deviceFacts, nodes, access) => {
  expect(decideAccess(deviceFacts, nodes)).toBe(access);
});

test('checks NVIDIA at its control node and others at their own nodes', () => {
  expect(nodesToCheck(device('nvidia', { nodes: ['/dev/dri/renderD128'] }))).toEqual(['/dev/nvidiactl']);
  expect(nodesToCheck(device('intel', { nodes: ['/dev/dri/renderD129'] }))).toEqual(['/dev/dri/renderD129']);
});
