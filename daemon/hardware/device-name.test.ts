import { expect, test } from 'vitest';
import { deviceName } from './device-name.ts';
import { newDevice } from './facts.ts';

const device = newDevice({
  id: '0000:c3:00.0',
  kind: 'gpu',
  vendor: 'amd',
  vendorId: 0x1002,
  deviceId: 0x1586,
});
const vulkan = [{ vendorId: 0x1002, deviceId: 0x1586, integrated: true, name: 'AMD Radeon 8060S' }];
const lspci = new Map([['0000:c3:00.0', 'Radeon 8060S']]);

test('best source first: tool, Vulkan, PCI list, own table, numbers', () => {
  expect(deviceName({ ...device, name: 'from the tool' }, { vulkan, lspci })).toBe('from the tool');
  expect(deviceName(device, { vulkan, lspci: new Map() })).toBe('AMD Radeon 8060S');
  expect(deviceName(device, { vulkan: null, lspci })).toBe('AMD Radeon 8060S');
  expect(deviceName(device, { vulkan: [], lspci: new Map() })).toBe('AMD Radeon graphics (Strix Halo)');
  expect(deviceName({ ...device, deviceId: 0x9 }, { vulkan: [], lspci: new Map() })).toBe(
    'AMD GPU [1002:0009]',
  );
});
