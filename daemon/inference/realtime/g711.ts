/** G.711 telephone audio: one byte per sample at 8,000 samples per second (ITU-T G.711). */

const BIAS = 0x84;
const MAX_LEVEL = 32_635;

function ulawByte(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const level = Math.min(MAX_LEVEL, Math.abs(sample)) + BIAS;
  const exponent = 31 - Math.clz32(level >> 7);
  return ~(sign | (exponent << 4) | ((level >> (exponent + 3)) & 0x0f)) & 0xff;
}

function ulawSample(byte: number): number {
  const bits = ~byte & 0xff;
  const level = ((((bits & 0x0f) << 3) + BIAS) << ((bits >> 4) & 7)) - BIAS;
  return bits & 0x80 ? -level : level;
}

function alawByte(sample: number): number {
  const sign = sample >= 0 ? 0x80 : 0;
  const level = (sample >= 0 ? sample : ~sample) >> 4;
  const exponent = level < 32 ? (level >> 4) & 1 : 31 - Math.clz32(level >> 4) + 1;
  const mantissa = exponent < 2 ? level & 0x0f : (level >> (exponent - 1)) & 0x0f;
  return (sign | (exponent << 4) | mantissa) ^ 0x55;
}

function alawSample(byte: number): number {
  const bits = byte ^ 0x55;
  const exponent = (bits >> 4) & 7;
  const mantissa = ((bits & 0x0f) << 4) + 8;
  const level = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return bits & 0x80 ? level : -level;
}

/** A companding law of G.711: encodes a 16-bit sample, and decodes by table. */
export interface Law {
  byteOf(sample: number): number;
  readonly samples: Int16Array;
}

const law = (byteOf: Law['byteOf'], sampleOf: (byte: number) => number): Law => ({
  byteOf,
  samples: Int16Array.from({ length: 256 }, (_, byte) => sampleOf(byte)),
});

export const ULAW: Law = law(ulawByte, ulawSample);
export const ALAW: Law = law(alawByte, alawSample);

/** Decodes G.711 bytes to samples from -1 to 1. */
export function fromG711({ samples }: Law, bytes: Buffer): Float32Array {
  const out = new Float32Array(bytes.length);
  for (let at = 0; at < bytes.length; at++) out[at] = (samples[bytes[at] as number] as number) / 32_768;
  return out;
}

/** Encodes samples from -1 to 1 as G.711 bytes; clips louder ones. */
export function toG711({ byteOf }: Law, samples: Float32Array): Buffer {
  const out = Buffer.allocUnsafe(samples.length);
  for (let at = 0; at < samples.length; at++) {
    const level = Math.max(-1, Math.min(1, samples[at] as number));
    out[at] = byteOf(Math.round(level * 32_767));
  }
  return out;
}
