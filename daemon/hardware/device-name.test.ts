import { expect, test } from 'vitest';
import { newDevice } from './device-facts.ts';
import { deviceName, isNameless } from './device-name.ts';

const device = newDevice({
  id: '0000:c3:00.0',
  kind: 'gpu',
  vendor: 'amd',
  vendorId: 0x1002,
  deviceId: 0x1586,
});
const vulkan = [{ vendorId: 0x1002, deviceId: 0x1586, integrated: true, name: 'AMD Radeon 8060S' }];
const lspci = new Map([['0000:c3:00.0', 'Radeon 8060S']]);
const graphics = new Map<string, string>();

test('prefers tool, then Vulkan, PCI list, own table and ids', () => {
  const named = { ...device, name: 'from the tool', sources: { name: 'amd-smi' } };
  expect(deviceName(named, { vulkan, lspci, graphics })).toEqual({
    name: 'from the tool',
    nameBy: 'amd-smi',
  });
  expect(deviceName(device, { vulkan, lspci: new Map(), graphics })).toEqual({
    name: 'AMD Radeon 8060S',
    nameBy: 'vulkaninfo',
  });
  expect(deviceName(device, { vulkan: null, lspci, graphics }).name).toBe('AMD Radeon 8060S');
  expect(deviceName(device, { vulkan: [], lspci: new Map(), graphics }).name).toBe(
    'AMD Radeon graphics (Strix Halo)',
  );
  expect(deviceName({ ...device, deviceId: 0x9 }, { vulkan: [], lspci: new Map(), graphics }).name).toBe(
    'AMD GPU [1002:0009]',
  );
  const fromLibrary = new Map([[device.id, 'Radeon of systeminformation']]);
  expect(
    deviceName({ ...device, deviceId: 0x9 }, { vulkan: [], lspci: new Map(), graphics: fromLibrary }),
  ).toEqual({
    name: 'Radeon of systeminformation',
    nameBy: 'systeminformation',
  });
});

test('reads systeminformation only for a GPU that no other source names', () => {
  const none = { vulkan: [], lspci: new Map<string, string>() };
  expect(isNameless(device, none)).toBe(false);
  expect(isNameless({ ...device, deviceId: 0x9 }, none)).toBe(true);
  expect(isNameless({ ...device, deviceId: 0x9, kind: 'npu' }, none)).toBe(false);
  expect(isNameless({ ...device, deviceId: 0x9 }, { ...none, lspci })).toBe(false);
});
