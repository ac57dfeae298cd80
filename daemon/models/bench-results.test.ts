import { describe, expect, it } from 'vitest';
import { BenchResults } from './bench-results.ts';

const model = { id: 'qwen3-8b', sizeBytes: 5 };
const result = (speeds: readonly number[], over: { model?: string; pool?: string } = {}) => ({
  model: 'qwen3-8b',
  slot: 'agent',
  pool: 'host',
  measured_at: 1,
  points: speeds.map((speed) => ({
    prompt_tokens: 10,
    prompt_per_second: 100,
    generated_tokens: 8,
    generated_per_second: speed,
  })),
  device: 'auto',
  ngram: null,
  ...over,
});

function memoryStore(text: string | null = null) {
  let stored = text;
  return {
    get: () => stored,
    set: (_: string, value: string) => {
      stored = value;
    },
  };
}

describe('BenchResults', () => {
  it('returns the range of the generation speed, also after a restart', () => {
    const store = memoryStore();
    new BenchResults(store).add(model, result([21.456, 18.2, 12.01]));
    const speed = { low: 12, high: 21.5, measured: true };
    expect(new BenchResults(store).speedOf(model, 'host')).toEqual(speed);
  });

  it('keeps the last result for each model and pool', () => {
    const results = new BenchResults(memoryStore());
    results.add(model, result([10]));
    results.add(model, result([80], { pool: 'card' }));
    results.add(model, result([12]));
    expect(results.speedOf(model, 'host')).toMatchObject({ low: 12, high: 12 });
    expect(results.speedOf(model, 'card')).toMatchObject({ low: 80 });
  });

  it('knows nothing of another model, pool, or a file of another size', () => {
    const results = new BenchResults(memoryStore());
    results.add(model, result([10]));
    expect(results.speedOf({ ...model, id: 'other' }, 'host')).toBeNull();
    expect(results.speedOf(model, 'card')).toBeNull();
    expect(results.speedOf({ ...model, sizeBytes: 6 }, 'host')).toBeNull();
  });

  it('returns what predictions gain on a device, and reads results of earlier versions', () => {
    const store = memoryStore();
    const ngram = { repeats: { off: 10, ngram: 20 }, plain: { off: 10, ngram: 10 } };
    new BenchResults(store).add(model, { ...result([10]), device: 'cpu', ngram });
    expect(new BenchResults(store).ngramOf(model, 'cpu')).toEqual(ngram);
    expect(new BenchResults(store).ngramOf(model, 'vulkan:0')).toBeNull();
    const { device: _, ngram: __, ...earlier } = result([10]);
    const old = memoryStore(JSON.stringify([{ sizeBytes: 5, result: earlier }]));
    expect(new BenchResults(old).speedOf(model, 'host')).toMatchObject({ low: 10 });
    expect(new BenchResults(old).ngramOf(model, 'auto')).toBeNull();
  });

  it('drops the oldest of more than 256 results', () => {
    const results = new BenchResults(memoryStore());
    for (let index = 0; index < 257; index++) {
      const id = `model-${index}`;
      results.add({ id, sizeBytes: 1 }, result([index + 1], { model: id }));
    }
    expect(results.speedOf({ id: 'model-0', sizeBytes: 1 }, 'host')).toBeNull();
    expect(results.speedOf({ id: 'model-1', sizeBytes: 1 }, 'host')).not.toBeNull();
  });

  it.each(['{', '{"a":1}', '[{"result":1}]'])('ignores a damaged store: %s', (text) => {
    expect(new BenchResults(memoryStore(text)).speedOf(model, 'host')).toBeNull();
  });
});
