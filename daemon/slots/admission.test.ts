import { describe, expect, it } from 'vitest';
import { type Holder, KEEP_FREE_BYTES, type ModelSize, memorySum, needOf } from './admission.ts';

const GIB = 1024 ** 3;
const eight: ModelSize = {
  sizeBytes: 5 * GIB,
  kvBytesPerToken: 131_072,
  embedding: 4096,
  measuredBytes: null,
};
const holder = (name: string, over: Partial<Holder> = {}): Holder => ({
  name,
  bytes: GIB,
  pinned: false,
  serving: false,
  reloadMs: 1_000,
  usedAt: 0,
  ...over,
});

const run = (context: number, sequences: number, batch = 512) => ({ context, sequences, batch });

describe('needOf', () => {
  it('adds weights, keys and values, compute buffers and the engine', () => {
    const need = needOf(eight, run(8192, 2));
    expect(need.window).toBe(2 * GIB);
    expect(need.total).toBe(need.weights + need.window + need.compute + need.engine);
    expect(need.source).toBe('estimated');
  });

  it('grows with context and parallelism', () => {
    expect(needOf(eight, run(4096, 1)).window * 4).toBe(needOf(eight, run(8192, 2)).window);
  });

  it('the compute buffers grow with the tokens of one step', () => {
    expect(needOf(eight, run(8192, 1, 1024)).compute).toBe(needOf(eight, run(8192, 1)).compute * 2);
  });

  it('guesses within bounds when the header does not tell', () => {
    const dark = { ...eight, kvBytesPerToken: null };
    expect(needOf(dark, run(8192, 1)).window).toBeGreaterThan(GIB / 2);
    expect(needOf({ ...dark, sizeBytes: 1 }, run(1000, 1)).window).toBe(1000 * 1024);
  });

  it('what was measured on this machine replaces the estimate', () => {
    expect(needOf({ ...eight, measuredBytes: 7 }, run(8192, 2))).toMatchObject({
      total: 7,
      source: 'measured',
    });
  });
});

describe('memorySum', () => {
  it('fits when need, reservations and the rest of the machine have room', () => {
    expect(memorySum(GIB, 2 * GIB + KEEP_FREE_BYTES, GIB).short).toBe(0);
    expect(memorySum(GIB, 2 * GIB + KEEP_FREE_BYTES - 1, GIB).short).toBe(1);
  });

  it('lists would-be victims cheapest to reload first, then least recently used, with why each stays', () => {
    const holders = [
      holder('slow', { reloadMs: 9_000 }),
      holder('recent', { usedAt: 5 }),
      holder('old', { usedAt: 1 }),
      holder('busy', { reloadMs: 1, serving: true }),
      holder('kept', { reloadMs: 2, pinned: true, serving: true }),
    ];
    expect(memorySum(GIB, 0, 0, holders).victims.map((victim) => [victim.slot, victim.stays])).toEqual([
      ['busy', 'serving'],
      ['kept', 'pinned'],
      ['old', null],
      ['recent', null],
      ['slow', null],
    ]);
  });
});
