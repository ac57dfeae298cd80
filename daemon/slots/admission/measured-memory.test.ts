import { describe, expect, it } from 'vitest';
import { currentOf } from '../testing/memory.ts';
import { MemoryTextStore } from '../testing/memory-text-store.ts';
import { Measurements, measureKey } from './measured-memory.ts';

const { launch } = currentOf('cpu');
describe('Measurements', () => {
  it('is stored across restarts', () => {
    const store = new MemoryTextStore();
    new Measurements(store).recordBytes(launch, 'host', 10, 77);
    new Measurements(store).recordLoadMs(launch, 'host', 10, 5_000);
    const measurements = new Measurements(store);
    expect([measurements.bytes(launch, 'host', 10), measurements.loadMs(launch, 'host', 10)]).toEqual([
      77, 5_000,
    ]);
  });

  it.each([
    ['another window', { ...launch, context: 1 }, 'host', 10],
    ['another parallelism', { ...launch, parallel: 9 }, 'host', 10],
    ['another device', { ...launch, device: 'vulkan' }, 'host', 10],
    ['another model', { ...launch, modelId: 'other' }, 'host', 10],
    ['another pool', launch, 'card', 10],
    ['another file of the same name', launch, 'host', 11],
  ])('%s was not measured', (_, other, pool, size) => {
    const measurements = new Measurements();
    measurements.recordBytes(launch, 'host', 10, 77);
    expect(measurements.bytes(other, pool, size)).toBeNull();
  });

  it('keeps the maximum bytes and the last load time', () => {
    const measurements = new Measurements();
    for (const bytes of [50, 90, 70]) measurements.recordBytes(launch, 'host', 10, bytes);
    for (const ms of [9_000, 3_000]) measurements.recordLoadMs(launch, 'host', 10, ms);
    expect([measurements.bytes(launch, 'host', 10), measurements.loadMs(launch, 'host', 10)]).toEqual([
      90, 3_000,
    ]);
  });

  it('estimates the load time by size until it was measured', () => {
    expect(new Measurements().loadMs(launch, 'host', 1_000_000_000)).toBe(2_000);
  });

  it('does not write small changes, and drops the oldest entries beyond its limit', () => {
    const store = new MemoryTextStore();
    const measurements = new Measurements(store);
    measurements.recordBytes(launch, 'host', 10, 1_000);
    measurements.recordBytes(launch, 'host', 10, 1_001);
    expect(store.writes).toBe(1);
    for (let n = 0; n < 600; n++) measurements.recordBytes({ ...launch, modelId: `m${n}` }, 'host', 10, 5);
    expect(Object.keys(JSON.parse(store.text ?? ''))).toHaveLength(512);
    expect(measurements.bytes(launch, 'host', 10)).toBeNull();
  });

  it.each([
    ['{'],
    ['[1]'],
    ['{"a":{"size":"x"}}'],
    [`{"${measureKey(launch, 'host')}":{"size":10,"bytes":77,"load_ms":9}}`],
  ])('the invalid text %s counts as empty', (text) => {
    const measurements = new Measurements({ get: () => text, set: () => {} });
    expect(measurements.bytes(launch, 'host', 10)).toBeNull();
  });
});
