import type { AudioFormat } from '../../contract/realtime.ts';
import { bytesIn, msOf } from './sound-format.ts';

/** Small chunks are merged up to this size, so that a long recording is a short list. */
const BLOCK_BYTES = 64 * 1024;

/** Audio in the caller's format. Immutable: every function returns a new buffer. */
export interface SoundBuffer {
  readonly format: AudioFormat;
  readonly blocks: readonly Buffer[];
  readonly bytes: number;
  /** Session time of the first byte, in milliseconds. */
  readonly startMs: number;
}

export const emptySound = (format: AudioFormat, startMs = 0): SoundBuffer => ({
  format,
  blocks: [],
  bytes: 0,
  startMs,
});

export const soundMs = ({ format, bytes }: SoundBuffer): number => msOf(format, bytes);
export const endMs = (sound: SoundBuffer): number => sound.startMs + soundMs(sound);

export function addSound(sound: SoundBuffer, piece: Buffer): SoundBuffer {
  if (piece.length === 0) return sound;
  const last = sound.blocks.at(-1);
  const blocks =
    last !== undefined && last.length + piece.length <= BLOCK_BYTES
      ? [...sound.blocks.slice(0, -1), Buffer.concat([last, piece])]
      : [...sound.blocks, piece];
  return { ...sound, blocks, bytes: sound.bytes + piece.length };
}

/** Returns the bytes from `from` to `to`. */
export function bytesOf(sound: SoundBuffer, from = 0, to = sound.bytes): Buffer {
  let at = 0;
  const parts: Buffer[] = [];
  for (const block of sound.blocks) {
    const part = block.subarray(Math.max(0, from - at), Math.max(0, to - at));
    if (part.length > 0) parts.push(part);
    at += block.length;
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

/** Returns the buffer without its first `count` bytes. */
export function dropSound(sound: SoundBuffer, count: number): SoundBuffer {
  if (count <= 0) return sound;
  const blocks: Buffer[] = [];
  let at = 0;
  for (const block of sound.blocks) {
    if (at + block.length > count) blocks.push(at < count ? block.subarray(count - at) : block);
    at += block.length;
  }
  const dropped = Math.min(count, sound.bytes);
  return {
    ...sound,
    blocks,
    bytes: sound.bytes - dropped,
    startMs: sound.startMs + msOf(sound.format, dropped),
  };
}

/** Returns the last `ms` milliseconds. */
export const keepLast = (sound: SoundBuffer, ms: number): SoundBuffer =>
  dropSound(sound, sound.bytes - bytesIn(sound.format, ms));
