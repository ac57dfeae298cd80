import { readFileSync } from 'node:fs';
import { z } from 'zod';

const FORMAT = 1;
/** A state replaces an older one that shares this much of its tokens: it is the same conversation, continued. */
const CONTINUED_SHARE = 0.75;

/** Identifies what a state was computed with. A state is only used when both digests are equal. */
export interface StateFingerprint {
  /** Of the model file. */
  readonly model: string;
  /** Of all settings that change the state or its format. */
  readonly settings: string;
}

/** What is known about a saved state. */
export interface StateDescription extends StateFingerprint {
  /** The tokens whose attention state it is. */
  readonly tokens: Uint32Array;
  /** Size and checksum of the state file. */
  readonly bytes: number;
  readonly crc32: number;
}

const digest = z.string().regex(/^[0-9a-f]{64}$/);
const stored = z.object({
  format: z.literal(FORMAT),
  model: digest,
  settings: digest,
  bytes: z.int().positive(),
  crc32: z.int().min(0),
  tokens: z.base64(),
});

export function stateDescriptionText({ tokens, ...rest }: StateDescription): string {
  const { buffer, byteOffset, byteLength } = tokens;
  return JSON.stringify({
    format: FORMAT,
    ...rest,
    tokens: Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
  });
}

/** Returns the description in a file; null when it cannot be read, is incomplete, or has another format. */
export function readStateDescription(path: string): StateDescription | null {
  try {
    const { format: _, tokens, ...rest } = stored.parse(JSON.parse(readFileSync(path, 'utf8')));
    const bytes = new Uint8Array(Buffer.from(tokens, 'base64'));
    if (bytes.length === 0 || bytes.length % Uint32Array.BYTES_PER_ELEMENT !== 0) return null;
    return { ...rest, tokens: new Uint32Array(bytes.buffer) };
  } catch {
    return null;
  }
}

/** Returns the number of leading tokens that both have. */
export function sharedLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a[at] === b[at]) at++;
  return at;
}

/** Returns whether the newer tokens are the same conversation as the older ones, continued. */
export const isContinued = (older: Uint32Array, newer: Uint32Array): boolean =>
  sharedLength(older, newer) >= CONTINUED_SHARE * older.length;
