import type { AudioFormat } from '../../contract/realtime.ts';
import { fromPcm16, toPcm16 } from '../../lib/media/pcm.ts';
import { ALAW, fromG711, type Law, toG711, ULAW } from './g711.ts';

interface FormatRow {
  /** Samples per second. */
  readonly rate: number;
  readonly bytesPerSample: number;
  decode(bytes: Buffer): Float32Array;
  encode(samples: Float32Array): Buffer;
}

const telephone = (law: Law): FormatRow => ({
  rate: 8_000,
  bytesPerSample: 1,
  decode: (bytes) => fromG711(law, bytes),
  encode: (samples) => toG711(law, samples),
});

const FORMATS: Readonly<Record<AudioFormat['type'], FormatRow>> = {
  'audio/pcm': { rate: 24_000, bytesPerSample: 2, decode: fromPcm16, encode: toPcm16 },
  'audio/pcmu': telephone(ULAW),
  'audio/pcma': telephone(ALAW),
};

export const formatRow = ({ type }: AudioFormat): FormatRow => FORMATS[type];

/** Returns the bytes of the whole samples in `ms` milliseconds. */
export const bytesIn = (format: AudioFormat, ms: number): number => {
  const { rate, bytesPerSample } = formatRow(format);
  return Math.floor((rate * ms) / 1000) * bytesPerSample;
};

/** Returns the duration of `bytes` in milliseconds. */
export const msOf = (format: AudioFormat, bytes: number): number => {
  const { rate, bytesPerSample } = formatRow(format);
  return (bytes / bytesPerSample / rate) * 1000;
};
