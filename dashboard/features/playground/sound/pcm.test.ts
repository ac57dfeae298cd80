import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asFloats, loudness, PcmMaker, RATE, samplesOf, toBase64, wavFile } from './pcm.ts';

const sine = (rate: number, hertz: number, seconds: number): Float32Array =>
  Float32Array.from({ length: rate * seconds }, (_, at) => 0.5 * Math.sin((2 * Math.PI * hertz * at) / rate));
const power = (samples: Float32Array): number =>
  samples.reduce((sum, value) => sum + value * value, 0) / samples.length;

describe('PcmMaker', () => {
  it.each([48_000, 44_100, 24_000, 16_000])('preserves a tone at %d samples per second', (rate) => {
    const out = asFloats(new PcmMaker(rate).push(sine(rate, 440, 1)));
    expect(Math.abs(out.length - RATE)).toBeLessThanOrEqual(1);
    expect(power(out)).toBeGreaterThan(0.115);
    expect(power(out)).toBeLessThan(0.13);
  });

  it('returns the same samples for any chunk size', () => {
    const sound = sine(44_100, 1000, 0.05);
    const whole = [...new PcmMaker(44_100).push(sound)];
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 12 }), (sizes) => {
        const maker = new PcmMaker(44_100);
        const out: number[] = [];
        let at = 0;
        for (const size of sizes) {
          out.push(...maker.push(sound.subarray(at, at + size)));
          at += size;
        }
        out.push(...maker.push(sound.subarray(at)));
        expect(out.length).toBe(whole.length);
        for (const [index, value] of out.entries())
          expect(Math.abs(value - (whole[index] ?? 0))).toBeLessThanOrEqual(1);
      }),
    );
  });

  it('clips values beyond the range', () => {
    expect([...new PcmMaker(RATE).push(Float32Array.of(2, -2, 0))]).toEqual([32_767, -32_767, 0]);
  });
});

describe('bytes', () => {
  it('survive base64', () => {
    fc.assert(
      fc.property(fc.int16Array({ maxLength: 300 }), (samples) => {
        const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
        expect([...samplesOf(toBase64(bytes))]).toEqual([...samples]);
      }),
    );
    expect(samplesOf(btoa('abc'))).toHaveLength(1);
  });

  it('form a WAV file with their length in the header', async () => {
    const file = wavFile([Int16Array.of(1, 2), Int16Array.of(3)]);
    const view = new DataView(await file.arrayBuffer());
    expect([file.size, view.getUint32(4, true), view.getUint32(24, true), view.getUint32(40, true)]).toEqual([
      50,
      42,
      RATE,
      6,
    ]);
    expect(view.getInt16(48, true)).toBe(3);
  });

  it('loudness is 0 for silence and increases with the volume', () => {
    const [quiet, loud] = [
      Int16Array.from({ length: 9 }, () => 300),
      Int16Array.from({ length: 9 }, () => 20_000),
    ];
    expect(loudness(new Int16Array(5))).toBe(0);
    expect(loudness(new Int16Array())).toBe(0);
    expect(loudness(loud)).toBeGreaterThan(loudness(quiet));
    expect(loudness(loud)).toBeLessThanOrEqual(1);
  });
});
