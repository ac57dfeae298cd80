import { expect, test } from 'vitest';
import { newDevice } from './device-facts.ts';
import { deviceName } from './device-name.ts';

const device = newDevice({
  id: '0000:c3:00.0',
  kind: 'gpu',
  vendor: 'amd',
  vendorId: 0x1002,
  deviceId: 0x1586,
});
const vulkan = [{ vendorId: 0x1002, deviceId: 0x1586, integrated: true, name: 'AMD Radeon 8060S' }];
const lspci = new Map([['0000:c3:00.0', 'Radeon 8060S']]);

test('prefers tool, then Vulkan, PCI list, own table and ids', () => {
  const named = { ...device, name: 'from the tool', sources: { name: 'amd-smi' } };
  expect(deviceName(named, { vulkan, lspci })).toEqual({ name: 'from the tool', nameBy: 'amd-smi' });
  expect(deviceName(device, { vulkan, lspci: new Map() })).toEqual({
    name: 'AMD Radeon 8060S',
    nameBy: 'vulkaninfo',
  });
  expect(deviceName(device, { vulkan: null, lspci }).name).toBe('AMD Radeon 8060S');
  expect(deviceName(device, { vulkan: [], lspci: new Map() }).name).toBe('AMD Radeon graphics (Strix Halo)');
  expect(deviceName({ ...device, deviceId: 0x9 }, { vulkan: [], lspci: new Map() }).name).toBe(
    'AMD GPU [1002:0009]',
  );
});
