import { describe, expect, it } from 'vitest';
import { type ModelSize, needOf } from './memory-estimate.ts';

const GIB = 1024 ** 3;
const model8b: ModelSize = {
  sizeBytes: 5 * GIB,
  kvBytesPerToken: 131_072,
  embedding: 4096,
  measuredBytes: null,
};
const run = (context: number, sequences: number, batch = 512) => ({ context, sequences, batch });

describe('needOf', () => {
  it('adds weights, keys and values, compute buffers and the engine', () => {
    const need = needOf(model8b, run(8192, 2));
    expect(need.window).toBe(2 * GIB);
    expect(need.total).toBe(need.weights + need.window + need.compute + need.engine);
    expect(need.source).toBe('estimated');
  });

  it('grows with context and parallelism', () => {
    expect(needOf(model8b, run(4096, 1)).window * 4).toBe(needOf(model8b, run(8192, 2)).window);
  });

  it('the compute buffers grow with the tokens of one step', () => {
    expect(needOf(model8b, run(8192, 1, 1024)).compute).toBe(needOf(model8b, run(8192, 1)).compute * 2);
  });

  it('estimates within bounds when the header lacks the value', () => {
    const dark = { ...model8b, kvBytesPerToken: null };
    expect(needOf(dark, run(8192, 1)).window).toBeGreaterThan(GIB / 2);
    expect(needOf({ ...dark, sizeBytes: 1 }, run(1000, 1)).window).toBe(1000 * 1024);
  });

  it('a measurement on this machine replaces the estimate', () => {
    expect(needOf({ ...model8b, measuredBytes: 7 }, run(8192, 2))).toMatchObject({
      total: 7,
      source: 'measured',
    });
  });
});
