import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AudioSegment, Segmenter } from './segmenter.ts';

const RATE = 1_000;
const noise = (seconds: number, level = 0.5) =>
  Float32Array.from({ length: seconds * RATE }, (_, n) => (n % 2 === 0 ? level : -level));
const quiet = (seconds: number) => new Float32Array(seconds * RATE);
const joined = (...parts: Float32Array[]) => Float32Array.from(parts.flatMap((part) => [...part]));

function cut(sound: Float32Array, step = sound.length): AudioSegment[] {
  const segmenter = new Segmenter(RATE);
  const stretches: AudioSegment[] = [];
  for (let at = 0; at < sound.length; at += step)
    stretches.push(...segmenter.push(sound.subarray(at, at + step)));
  stretches.push(...segmenter.flush());
  expect(segmenter.seconds).toBeCloseTo(sound.length / RATE, 6);
  return stretches;
}

describe('Segmenter', () => {
  test('a short recording is one segment, including pauses', () => {
    expect(cut(joined(noise(2), quiet(1), noise(1)))).toMatchObject([{ start: 0, end: 4, silent: false }]);
  });

  test('a longer recording is split at the next pause', () => {
    const [first, second] = cut(joined(noise(8), quiet(1), noise(4)));
    expect(first?.end).toBeGreaterThan(8);
    expect(first?.end).toBeLessThan(9);
    expect(second).toMatchObject({ start: first?.end, end: 13 });
  });

  test('a recording without a pause is split where it is quietest', () => {
    const [first] = cut(joined(noise(22), noise(0.1, 0.2), noise(20)));
    expect(first?.end).toBeGreaterThanOrEqual(22);
    expect(first?.end).toBeLessThanOrEqual(22.1);
  });

  test('detects silence', () => {
    expect(cut(quiet(3))).toMatchObject([{ silent: true }]);
    expect(cut(joined(quiet(3), noise(0.03)))).toMatchObject([{ silent: false }]);
  });

  test('the segments are the recording, none exceeds the window, for any split of the input', () => {
    const part = fc.tuple(fc.integer({ min: 1, max: 9_000 }), fc.constantFrom(0, 0.001, 0.3, 0.9));
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 5_000 }),
        (parts, step) => {
          const sound = joined(...parts.map(([length, level]) => noise(length / RATE, level)));
          const stretches = cut(sound, step);
          expect(joined(...stretches.map(({ samples }) => samples))).toEqual(sound);
          let at = 0;
          for (const { start, end, samples } of stretches) {
            expect(start).toBeCloseTo(at, 6);
            expect(samples.length).toBeGreaterThan(0);
            expect(samples.length).toBeLessThanOrEqual(28 * RATE + 20);
            at = end;
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
