import { expect, test } from 'vitest';
import { type DeviceInfo, newDevice } from './device-facts.ts';
import type { HostMemory } from './host-memory.ts';
import { memoryPools, poolOf } from './memory-budget.ts';

const host = (totalBytes: number, availableBytes: number, limitedBy: HostMemory['limitedBy'] = 'host') => ({
  totalBytes,
  availableBytes,
  limitedBy,
});
const gpu = (id: string, values: Partial<DeviceInfo>): DeviceInfo => ({
  ...newDevice({ id, kind: 'gpu', vendor: 'amd', vendorId: 1, deviceId: 2 }),
  ...values,
});
const apu = gpu('apu', {
  integrated: true,
  memoryTotal: 10,
  memoryUsed: 4,
  memoryFree: 6,
  gttTotal: 50,
  gttUsed: 20,
});

test.each([
  ['GTT', host(100, 90), { total_bytes: 60, available_bytes: 36, limited_by: 'gtt' }],
  ['host', host(40, 5), { total_bytes: 50, available_bytes: 11, limited_by: 'host' }],
  ['control group', host(30, 25, 'cgroup'), { total_bytes: 40, available_bytes: 31, limited_by: 'cgroup' }],
] as const)('a unified pool is the smallest of the three: %s', (_, memory, expected) => {
  expect(memoryPools(memory, [apu])).toEqual([
    { id: 'host', kind: 'unified', carveout_bytes: 10, devices: ['cpu', 'apu'], ...expected },
  ]);
});

test("a card has its own pool, without mappable host memory and the driver's reserve", () => {
  const card = gpu('card', { memoryTotal: 100, memoryUsed: 10, memoryFree: 85, gttTotal: 500 });
  expect(memoryPools(host(1000, 900), [card])[1]).toMatchObject({
    id: 'card',
    kind: 'device',
    total_bytes: 95,
    available_bytes: 85,
  });
});

test('unknown memory has no pool', () => {
  expect(poolOf(gpu('x', {}))).toBeNull();
  expect(memoryPools(host(10, 5), [gpu('x', {})])).toHaveLength(1);
});

test('small display graphics share the host pool and do not make it unified', () => {
  expect(memoryPools(host(10, 5), [{ ...apu, small: true }])[0]).toMatchObject({
    kind: 'host',
    total_bytes: 10,
  });
});
