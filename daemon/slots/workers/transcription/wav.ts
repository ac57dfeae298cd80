import type { Spool } from '../../../lib/fs/spool.ts';

/** Sample formats of a WAV file. */
type Encoding = 'u8' | 'i16' | 'i24' | 'i32' | 'f32' | 'f64';

export interface WavFormat {
  readonly rate: number;
  readonly channels: number;
  readonly encoding: Encoding;
  /** Byte position of the samples. */
  readonly start: number;
  readonly end: number;
}

/** A chunk of mono audio. */
export interface Sound {
  readonly rate: number;
  readonly samples: Float32Array;
}

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
const ENCODINGS: Readonly<Record<string, Encoding>> = {
  [`${PCM}/8`]: 'u8',
  [`${PCM}/16`]: 'i16',
  [`${PCM}/24`]: 'i24',
  [`${PCM}/32`]: 'i32',
  [`${FLOAT}/32`]: 'f32',
  [`${FLOAT}/64`]: 'f64',
};
const BYTES: Readonly<Record<Encoding, number>> = { u8: 1, i16: 2, i24: 3, i32: 4, f32: 4, f64: 8 };
const SAMPLE: Readonly<Record<Encoding, (bytes: Buffer, at: number) => number>> = {
  u8: (bytes, at) => (bytes.readUInt8(at) - 128) / 128,
  i16: (bytes, at) => bytes.readInt16LE(at) / 32_768,
  i24: (bytes, at) => bytes.readIntLE(at, 3) / 8_388_608,
  i32: (bytes, at) => bytes.readInt32LE(at) / 2_147_483_648,
  f32: (bytes, at) => bytes.readFloatLE(at),
  f64: (bytes, at) => bytes.readDoubleLE(at),
};
/** Maximum number of chunks before the samples. */
const MAX_CHUNKS = 64;
const FRAMES_AT_ONCE = 32_768;

function formatOf(bytes: Buffer): Omit<WavFormat, 'start' | 'end'> | null {
  if (bytes.length < 16) return null;
  const tag = bytes.readUInt16LE(0);
  const plain = tag === EXTENSIBLE && bytes.length >= 26 ? bytes.readUInt16LE(24) : tag;
  const [channels, rate] = [bytes.readUInt16LE(2), bytes.readUInt32LE(4)];
  const encoding = ENCODINGS[`${plain}/${bytes.readUInt16LE(14)}`];
  if (encoding === undefined || channels < 1 || channels > 32 || rate < 1_000 || rate > 384_000) return null;
  return { rate, channels, encoding };
}

/**
 * Returns the position and format of the samples in a WAV file. Null for other or compressed files. A saved
 * stream (with a length of zero or all ones) extends to the end of its file.
 */
export async function readWavFormat(file: Spool): Promise<WavFormat | null> {
  const head = await file.read(0, 12);
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') return null;
  let format: ReturnType<typeof formatOf> = null;
  let at = 12;
  for (let chunk = 0; chunk < MAX_CHUNKS && at + 8 <= file.length; chunk++) {
    const name = await file.read(at, 8);
    const length = name.readUInt32LE(4);
    const start = at + 8;
    const kind = name.toString('latin1', 0, 4);
    if (kind === 'fmt ') format = formatOf(await file.read(start, Math.min(length, 64)));
    if (kind === 'data') {
      if (format === null) return null;
      const open = length === 0 || start + length > file.length;
      return { ...format, start, end: open ? file.length : start + length };
    }
    at = start + length + (length % 2);
  }
  return null;
}

function mono(bytes: Buffer, { channels, encoding }: WavFormat): Float32Array {
  const width = BYTES[encoding];
  const read = SAMPLE[encoding];
  const samples = new Float32Array(Math.floor(bytes.length / (width * channels)));
  for (let frame = 0; frame < samples.length; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++)
      sum += read(bytes, (frame * channels + channel) * width);
    const value = sum / channels;
    samples[frame] = Number.isFinite(value) ? Math.max(-1, Math.min(1, value)) : 0;
  }
  return samples;
}

/** Yields the audio of a WAV file in chunks, mixed to mono. */
export async function* wavSound(file: Spool, format: WavFormat): AsyncGenerator<Sound> {
  const step = FRAMES_AT_ONCE * BYTES[format.encoding] * format.channels;
  for (let at = format.start; at < format.end; at += step) {
    const bytes = await file.read(at, Math.min(step, format.end - at));
    const samples = mono(bytes, format);
    if (samples.length > 0) yield { rate: format.rate, samples };
  }
}
