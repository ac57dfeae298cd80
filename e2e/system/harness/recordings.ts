import { toPcm16, wavHeader } from '../../../daemon/lib/media/pcm.ts';
import { seededRandom } from '../../../daemon/lib/seeded-random.ts';

export const WAV_HEADER_BYTES = 44;
const NOISE_RATE = 16_000;

/** Sentences of which Whisper writes every word when the voice en_US-joe-medium speaks them without noise. */
export const SENTENCES = [
  'Please remind me to buy milk, bread and eggs tomorrow morning.',
  'The weather in Berlin is cold and rainy today.',
  'The quick brown fox jumps over the lazy dog.',
];

/** Returns the words of a text without punctuation and capitals. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z0-9']+/g) ?? [];

/** Joins WAV files. Returns the file and the seconds at which each part ends. */
export function joinedWav(parts: readonly Buffer[]): { file: File; ends: number[] } {
  const rate = parts[0]?.readUInt32LE(24) ?? 0;
  let length = 0;
  const ends = parts.map((part) => {
    length += part.length - WAV_HEADER_BYTES;
    return length / 2 / rate;
  });
  const sound = parts.map((part) => part.subarray(WAV_HEADER_BYTES));
  return { file: new File([Buffer.concat([wavHeader(rate, length), ...sound])], 'joined.wav'), ends };
}

function wavFile(seconds: number, sampleAt: (index: number) => number): File {
  const samples = Float32Array.from({ length: seconds * NOISE_RATE }, (_, index) => sampleAt(index));
  const sound = toPcm16(samples);
  return new File([Buffer.concat([wavHeader(NOISE_RATE, sound.length), sound])], 'noise.wav');
}

/** Returns a recording of white noise. `peak` is at most 1. */
export function noiseWav(seconds: number, peak: number): File {
  const random = seededRandom(1);
  return wavFile(seconds, () => (2 * random() - 1) * peak);
}

/** Returns a recording of the hum of a mains cable, with a little noise. */
export function humWav(seconds: number): File {
  const random = seededRandom(1);
  return wavFile(
    seconds,
    (index) => 0.06 * Math.sin((2 * Math.PI * 50 * index) / NOISE_RATE) + (2 * random() - 1) * 0.006,
  );
}
