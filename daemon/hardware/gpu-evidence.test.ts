import { afterEach, expect, test } from 'vitest';
import { hasCardSigns } from './gpu-evidence.ts';
import { type FakeMachine, fakeMachine, type MachineName } from './testing/fake-machine.ts';

const machines: FakeMachine[] = [];
afterEach(() => {
  for (const machine of machines.splice(0)) machine.remove();
});
const signs = (name: MachineName, extra: Record<string, string> = {}): boolean => {
  const machine = fakeMachine(name, extra);
  machines.push(machine);
  return hasCardSigns(machine.root);
};
const pci = (address: string, vendor: string, device: string) => {
  const folder = `sys/bus/pci/devices/${address}`;
  return { [`${folder}/vendor`]: vendor, [`${folder}/device`]: device, [`${folder}/class`]: '0x030000' };
};

test.each<MachineName>([
  'nvidia-single',
  'nvidia-unified-gb10',
  'amd-dgpu',
  'amd-strix-halo-npu',
  'intel-arc-npu',
])('%s may have a GPU', (name) => expect(signs(name)).toBe(true));

test('a machine without graphics, with shared-memory graphics or only a console has no GPU', () => {
  expect(signs('no-gpu')).toBe(false);
  expect(signs('arm-rk3588-npu')).toBe(false);
  expect(signs('no-gpu', pci('0000:00:02.0', '0x8086', '0x46a6'))).toBe(false);
  expect(signs('no-gpu', pci('0000:03:00.0', '0x1a03', '0x2000'))).toBe(false);
});

test('a Windows virtual machine may have a GPU that no bus lists', () => {
  expect(signs('no-gpu', { 'dev/dxg': '' })).toBe(true);
});
