import { expect, test } from 'vitest';
import { kfdAddress, parseKfdNode } from './kfd.ts';
import { readCapture } from './testing/fake-machine.ts';

const properties = (name: Parameters<typeof readCapture>[0], node: number) =>
  readCapture(name).files[`sys/class/kfd/kfd/topology/nodes/${node}/properties`] ?? '';

test('the location number combines bus, slot and function', () => {
  expect(kfdAddress(0, 2816)).toBe('0000:0b:00.0');
  expect(kfdAddress(15, 0xc401)).toBe('000f:c4:00.1');
});

test('a node without SIMDs is a processor', () => {
  expect(parseKfdNode(properties('amd-dgpu', 0))).toBeNull();
  expect(parseKfdNode('')).toBeNull();
});

test('a GPU node has its size', () => {
  expect(parseKfdNode(properties('amd-strix-halo-npu', 1))).toEqual({
    id: '0000:c3:00.0',
    cpuCores: 0,
    simds: 80,
  });
  expect(parseKfdNode(properties('mixed-amd-igpu-nvidia-dgpu', 1))).toMatchObject({
    id: '0000:0e:00.0',
    simds: 4,
  });
});
