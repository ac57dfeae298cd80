import { describe, expect, it } from 'vitest';
import { currentOf } from '../testing/memory.ts';
import { Notes } from '../testing/notes.ts';
import { Measures, measureKey } from './measured-memory.ts';

const { launch } = currentOf('cpu');
describe('Measures', () => {
  it('outlives the gateway', () => {
    const kept = new Notes();
    new Measures(kept).took(launch, 'host', 10, 77);
    new Measures(kept).loaded(launch, 'host', 10, 5_000);
    const measures = new Measures(kept);
    expect([measures.bytes(launch, 'host', 10), measures.loadMs(launch, 'host', 10)]).toEqual([77, 5_000]);
  });

  it.each([
    ['another window', { ...launch, context: 1 }, 'host', 10],
    ['another parallelism', { ...launch, parallel: 9 }, 'host', 10],
    ['another device', { ...launch, device: 'vulkan' }, 'host', 10],
    ['another model', { ...launch, modelId: 'other' }, 'host', 10],
    ['another pool', launch, 'card', 10],
    ['another file of the same name', launch, 'host', 11],
  ])('%s was not measured', (_, other, pool, size) => {
    const measures = new Measures();
    measures.took(launch, 'host', 10, 77);
    expect(measures.bytes(other, pool, size)).toBeNull();
  });

  it('the most that was seen counts, and the last load', () => {
    const measures = new Measures();
    for (const bytes of [50, 90, 70]) measures.took(launch, 'host', 10, bytes);
    for (const ms of [9_000, 3_000]) measures.loaded(launch, 'host', 10, ms);
    expect([measures.bytes(launch, 'host', 10), measures.loadMs(launch, 'host', 10)]).toEqual([90, 3_000]);
  });

  it('guesses the time of a load by size until one was measured', () => {
    expect(new Measures().loadMs(launch, 'host', 1_000_000_000)).toBe(2_000);
  });

  it('does not write for a trifle, and forgets the oldest beyond its bound', () => {
    const kept = new Notes();
    const measures = new Measures(kept);
    measures.took(launch, 'host', 10, 1_000);
    measures.took(launch, 'host', 10, 1_001);
    expect(kept.writes).toBe(1);
    for (let n = 0; n < 600; n++) measures.took({ ...launch, modelId: `m${n}` }, 'host', 10, 5);
    expect(Object.keys(JSON.parse(kept.text ?? ''))).toHaveLength(512);
    expect(measures.bytes(launch, 'host', 10)).toBeNull();
  });

  it.each([
    ['{'],
    ['[1]'],
    ['{"a":{"size":"x"}}'],
    [`{"${measureKey(launch, 'host')}":{"size":10,"bytes":77,"load_ms":9}}`],
  ])('%s is no memory', (text) => {
    const measures = new Measures({ get: () => text, set: () => {} });
    expect(measures.bytes(launch, 'host', 10)).toBeNull();
  });
});
