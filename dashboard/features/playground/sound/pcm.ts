/** Samples per second of live voice, in both directions (docs/spec/contract.md#realtime). */
export const RATE = 24_000;
const LOUDEST = 32_767;

const level = (value: number): number => Math.round(Math.max(-1, Math.min(1, value)) * LOUDEST);

/**
 * Resamples audio of any rate to 16-bit samples at `RATE`, block by block. Each output sample is the mean of its input
 * samples, which also suppresses most aliasing.
 */
export class PcmMaker {
  readonly #step: number;
  /** Sum and weight of the input for the next output sample. */
  #sum = 0;
  #filled = 0;

  constructor(from: number) {
    this.#step = from / RATE;
  }

  push(samples: Float32Array): Int16Array<ArrayBuffer> {
    const out = new Int16Array(Math.ceil((samples.length + this.#filled) / this.#step) + 1);
    let count = 0;
    for (const sample of samples) {
      let left = 1;
      while (left > 0) {
        const part = Math.min(left, this.#step - this.#filled);
        this.#sum += sample * part;
        this.#filled += part;
        left -= part;
        if (this.#filled < this.#step - 1e-9) continue;
        out[count++] = level(this.#sum / this.#filled);
        this.#sum = 0;
        this.#filled = 0;
      }
    }
    return out.slice(0, count);
  }
}

/** Converts 16-bit samples to numbers from -1 to 1. */
export function asFloats(samples: Int16Array): Float32Array<ArrayBuffer> {
  return Float32Array.from(samples, (value) => value / (LOUDEST + 1));
}

/** Loudness from 0 to 1 for a level meter, on a logarithmic scale; quiet speech is about a third. */
export function loudness(samples: Int16Array): number {
  if (samples.length === 0) return 0;
  const power = samples.reduce((sum, value) => sum + (value / LOUDEST) ** 2, 0) / samples.length;
  return Math.max(0, Math.min(1, 1 + Math.log10(Math.max(power, 1e-9)) / 6));
}

const PIECE = 0x8000;

/** Encodes bytes as base64, in blocks that stay under the argument limit of a call. */
export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE)
    text += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(text);
}

/** Decodes base64 to 16-bit samples; drops an odd last byte. */
export function samplesOf(base64: string): Int16Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length - (text.length % 2));
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return new Int16Array(bytes.buffer);
}

/** A WAV file of mono samples at `RATE`. */
export function wavFile(pieces: ReadonlyArray<Int16Array<ArrayBuffer>>): Blob {
  const size = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  const head = new DataView(new ArrayBuffer(44));
  const word = (at: number, text: string): void => {
    for (let i = 0; i < 4; i++) head.setUint8(at + i, text.charCodeAt(i));
  };
  word(0, 'RIFF');
  head.setUint32(4, 36 + size, true);
  word(8, 'WAVE');
  word(12, 'fmt ');
  head.setUint32(16, 16, true);
  head.setUint16(20, 1, true);
  head.setUint16(22, 1, true);
  head.setUint32(24, RATE, true);
  head.setUint32(28, RATE * 2, true);
  head.setUint16(32, 2, true);
  head.setUint16(34, 16, true);
  word(36, 'data');
  head.setUint32(40, size, true);
  return new Blob([head, ...pieces], { type: 'audio/wav' });
}
