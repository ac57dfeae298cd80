export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
const LOWER_U = 0x75;

/** 1 for each byte that is a single-character escape. */
const ESCAPES = new Uint8Array(256);
for (const letter of '"\\/bfnrt') ESCAPES[letter.charCodeAt(0)] = 1;
/** 1 for each byte that ends a plain run inside a string: quote, backslash, control bytes. */
const ENDS_RUN = new Uint8Array(256).fill(1, 0, 0x20);
ENDS_RUN[QUOTE] = 1;
ENDS_RUN[BACKSLASH] = 1;

/** Length of a `\uXXXX` escape, backslash included. */
const UNICODE_ESCAPE_BYTES = 6;
/** Return value of {@link escapeEnd} other than an offset. */
export const INVALID_ESCAPE = -1;

const isHex = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);

/**
 * Returns the offset of the next quote, backslash or control byte of a JSON string at or after `from`, or
 * `end`. Checks eight bytes at a time, and single bytes near the end. `view` must cover the same bytes.
 */
export function runEnd(bytes: Uint8Array, view: DataView, from: number, end: number): number {
  let at = from;
  for (const last = end - 8; at <= last; at += 8) {
    const first = marks(view.getInt32(at, true));
    if (first !== 0) return at + lowest(first);
    const second = marks(view.getInt32(at + 4, true));
    if (second !== 0) return at + 4 + lowest(second);
  }
  while (at < end && ENDS_RUN[bytes[at] as number] === 0) at++;
  return at;
}

/** Returns the offset after the escape whose backslash is at `at`, or `INVALID_ESCAPE` when it is invalid or incomplete. */
export function escapeEnd(bytes: Uint8Array, at: number): number {
  const letter = bytes[at + 1] as number;
  if (letter !== LOWER_U) return ESCAPES[letter] === 1 ? at + 2 : INVALID_ESCAPE;
  for (let digit = at + 2; digit < at + UNICODE_ESCAPE_BYTES; digit++)
    if (!isHex(bytes[digit] as number)) return INVALID_ESCAPE;
  return at + UNICODE_ESCAPE_BYTES;
}

/**
 * Sets the high bit of each of four bytes that is a quote, a backslash or below 0x20. The lowest set bit is
 * exact. Bits above it may be false positives.
 */
function marks(word: number): number {
  // Flipping bit 1 maps the quote to 0x20, right above the control bytes, and maps control bytes to control
  // bytes.
  const low = word ^ 0x02020202;
  const slash = word ^ 0x5c5c5c5c;
  return (((low - 0x21212121) & ~low) | ((slash - 0x01010101) & ~slash)) & 0x80808080;
}

/** Returns the index of the lowest byte that `marks` flagged. */
const lowest = (flags: number): number => (31 - Math.clz32(flags & -flags)) >> 3;
