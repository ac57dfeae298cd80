import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromPcm16, toPcm16, wavHeader } from './pcm.ts';
import { Resampler } from './resampler.ts';

test('samples survive the conversion to bytes and back', () => {
  fc.assert(
    fc.property(fc.float32Array({ min: -1, max: 1, noNaN: true, maxLength: 50 }), (samples) => {
      const back = fromPcm16(toPcm16(samples));
      expect(back.length).toBe(samples.length);
      samples.forEach((value, at) => void expect(Math.abs(value - (back[at] as number))).toBeLessThan(1e-4));
    }),
  );
});

test.each([
  [2, 32_767],
  [-7, -32_767],
  [Number.NaN, 0],
  [Number.POSITIVE_INFINITY, 32_767],
])('%d becomes %i', (value, level) => expect(toPcm16(Float32Array.of(value)).readInt16LE(0)).toBe(level));

test('a header has the length of the sound, or marks it as unknown', () => {
  const known = wavHeader(22_050, 1_000);
  expect([known.readUInt32LE(4), known.readUInt32LE(24), known.readUInt32LE(40)]).toEqual([
    1_036, 22_050, 1_000,
  ]);
  expect(wavHeader(22_050, null).readUInt32LE(40)).toBe(0xffff_ffff);
});

describe('Resampler', () => {
  const tone = (hertz: number, rate: number, seconds: number) =>
    Float32Array.from({ length: rate * seconds }, (_, n) => Math.sin((2 * Math.PI * hertz * n) / rate));
  const through = (from: number, to: number, sound: Float32Array, cuts: readonly number[]) => {
    const resampler = new Resampler(from, to);
    const parts: Float32Array[] = [];
    let at = 0;
    for (const cut of [...cuts, sound.length]) {
      parts.push(resampler.push(sound.subarray(at, Math.max(at, cut))));
      at = Math.max(at, cut);
    }
    parts.push(resampler.flush());
    return Float32Array.from(parts.flatMap((part) => [...part]));
  };

  test.each([
    [16_000, 24_000],
    [22_050, 24_000],
    [24_000, 16_000],
    [48_000, 24_000],
    [8_000, 24_000],
    [44_101, 16_000],
    [24_000, 24_000],
  ])('a tone of %i samples a second is the same tone with %i', (from, to) => {
    const out = through(from, to, tone(440, from, 0.25), []);
    expect(Math.abs(out.length - to * 0.25)).toBeLessThanOrEqual(1);
    const expected = tone(440, to, 0.25);
    for (let n = 200; n < out.length - 200; n++)
      expect(Math.abs((out[n] as number) - (expected[n] as number))).toBeLessThan(0.02);
  });

  test('removes frequencies above the new Nyquist frequency without aliasing', () => {
    const out = through(48_000, 16_000, tone(15_000, 48_000, 0.1), []);
    expect(Math.max(...out.subarray(100, -100))).toBeLessThan(0.05);
  });

  test('chunks of any size produce the same sound as the whole', () => {
    const sound = tone(300, 22_050, 0.1);
    const whole = through(22_050, 24_000, sound, []);
    fc.assert(
      fc.property(fc.array(fc.nat(sound.length), { maxLength: 6 }), (cuts) => {
        const parts = through(
          22_050,
          24_000,
          sound,
          [...cuts].sort((a, b) => a - b),
        );
        expect(parts.length).toBe(whole.length);
        whole.forEach((value, at) => void expect(parts[at]).toBeCloseTo(value, 5));
      }),
      { numRuns: 30 },
    );
  });
});
