import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contextOf } from '../../models/testing/context-of.ts';
import { MODEL } from '../testing/controller-bench.ts';
import { defaultWindow } from './default-window.ts';

const GB = 1e9;
const slot = { parallel: 1, engine: 'embedded', batch: null };
const memory = (full: number, sliding = 0, window = 0, state = 0) =>
  contextOf(full, {
    slidingBytesPerToken: sliding,
    slidingWindow: window,
    stateBytesPerSequence: state,
    vocabulary: 250_000,
    stepBytes: 32 * 4096,
  });
const model = (gb: number, contextTrain: number, contextMemory: ReturnType<typeof memory>) => ({
  ...MODEL,
  sizeBytes: gb * GB,
  cardBytes: gb * GB,
  contextTrain,
  contextMemory,
});
const QWEN36_35B = model(22.1, 262_144, memory(20_480, 0, 0, 65_863_680));
const GEMMA4_12B = model(7, 131_072, memory(16_384, 327_680, 1024));
const QWEN3_8B = model(5, 40_960, memory(147_456));
const SMOLLM2 = model(0.15, 8192, memory(23_040));

describe('defaultWindow', () => {
  it.each([
    ['a hybrid on a card of 32 GB', QWEN36_35B, { card: 34 * GB, host: 64 * GB }, 65_536],
    ['the same beyond the card, in 64 GB of the host', QWEN36_35B, { card: 22 * GB, host: 64 * GB }, 131_072],
    ['a sliding window on a card of 16 GB', GEMMA4_12B, { card: 17 * GB, host: 32 * GB }, 131_072],
    ['full attention on a card of 16 GB', QWEN3_8B, { card: 17 * GB, host: 32 * GB }, 32_768],
    ['full attention on a card of 8 GB', QWEN3_8B, { card: 8.5 * GB, host: 32 * GB }, 8192],
    ['full attention on a host of 24 GB', QWEN3_8B, { card: null, host: 25 * GB }, 32_768],
    ['full attention on a host of 16 GB', QWEN3_8B, { card: null, host: 16 * GB }, 16_384],
    ['a model that does not fit at all', QWEN36_35B, { card: null, host: 16 * GB }, 8192],
    ['a trained window of 8192', SMOLLM2, { card: null, host: 25 * GB }, 8192],
    ['a smaller trained window', { ...SMOLLM2, contextTrain: 2048 }, { card: null, host: 25 * GB }, 2048],
    [
      'the demonstration model',
      { ...SMOLLM2, demo: true, contextTrain: 65_536 },
      { card: null, host: 25 * GB },
      32_768,
    ],
    ['an unknown trained window', { ...SMOLLM2, contextTrain: null }, { card: null, host: 25 * GB }, 8192],
  ])('%s', (_, one, totals, expected) => {
    expect(defaultWindow(one, slot, totals)).toBe(expected);
  });

  it('is smaller for several sequences, each of which has its own window', () => {
    const totals = { card: 24 * GB, host: 32 * GB };
    const windows = [1, 2, 4, 8].map((parallel) => defaultWindow(QWEN3_8B, { ...slot, parallel }, totals));
    expect(windows).toEqual([32_768, 32_768, 16_384, 8192]);
  });

  it('never exceeds the trained window, and never shrinks with more memory', () => {
    const bytes = fc.integer({ min: 1, max: 256 });
    fc.assert(
      fc.property(bytes, bytes, fc.integer({ min: 1, max: 300_000 }), (less, more, trained) => {
        const one = { ...QWEN3_8B, contextTrain: trained };
        const [small, large] = [less, less + more].map((gb) =>
          defaultWindow(one, slot, { card: null, host: gb * GB }),
        ) as [number, number];
        expect(small).toBeLessThanOrEqual(large);
        expect(large).toBeLessThanOrEqual(trained);
      }),
    );
  });
});
