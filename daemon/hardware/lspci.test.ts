import { expect, test } from 'vitest';
import { parseLspci } from './lspci.ts';
import { captured } from './testing/fake-machine.ts';

test('uses the name in brackets', () => {
  const names = parseLspci(captured('amd-dgpu', 'lspci'));
  expect(names.get('0000:0b:00.0')).toBe('Radeon RX 7900 XT/7900 XTX');
});

test('a device missing from the list has no name', () => {
  expect(parseLspci(captured('amd-strix-halo-npu', 'lspci')).size).toBe(0);
  expect(parseLspci(captured('no-gpu', 'lspci')).size).toBe(0);
});

test('returns nothing for other text', () => {
  expect(parseLspci('lspci: Cannot open /proc/bus/pci\n').size).toBe(0);
});
