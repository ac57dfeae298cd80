import { expect, test } from 'vitest';
import { deviceKind, pciAddress } from './pci-scan.ts';

test.each([
  ['0000000F:01:00.0', '000f:01:00.0'],
  ['00000000:84:00.0', '0000:84:00.0'],
  ['0000:C4:00.1', '0000:c4:00.1'],
  ['84:00.0', null],
  ['fdab0000.npu', null],
  ['', null],
])('%s is %s', (text, address) => {
  expect(pciAddress(text)).toBe(address);
});

test.each([
  ['display', 0x030000, 'amd', 0x1002, 0x744c, 'gpu'],
  ['3D controller', 0x030200, 'nvidia', 0x10de, 0x2e12, 'gpu'],
  ['accelerator card', 0x120000, 'amd', 0x1002, 0x74a1, 'gpu'],
  ['Intel NPU', 0x120000, 'intel', 0x8086, 0xad1d, 'npu'],
  ['AMD NPU', 0x118000, 'amd', 0x1022, 0x17f0, 'npu'],
  ['AMD host bridge', 0x060000, 'amd', 0x1022, 0x1507, null],
  ['sound of a graphics card', 0x040300, 'nvidia', 0x10de, 0x22ba, null],
] as const)('%s', (_, classCode, vendor, vendorId, deviceId, kind) => {
  expect(deviceKind(classCode, vendor, vendorId, deviceId)).toBe(kind);
});
