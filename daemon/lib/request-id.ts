import { randomFillSync } from 'node:crypto';

/**
 * Random bytes of one id. The bytes for 256 ids are generated together, because the call costs more than
 * everything else.
 */
const BYTES = 10;
const random = Buffer.alloc(BYTES * 256);
let used = random.length;

/**
 * The text of an id. Dashes and version are constant, the time is updated once a millisecond, the rest for
 * each id.
 */
const text = Buffer.from('00000000-0000-7000-8000-000000000000');
const DIGITS = Buffer.from('0123456789abcdef');
/** The random digits (RFC 9562 section 5.7). Only two bits of the variant digit are random. */
const RANDOM = [15, 16, 17, 20, 21, 22, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35];
const VARIANT = 19;

/**
 * Returns a new request id: a UUID of version 7 (RFC 9562). Ids sort by creation time, to the millisecond, so
 * that the request log appends to its index.
 */
export function newRequestId(): string {
  const now = Date.now();
  if (now !== lastMs) writeTime(now);
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const from = used;
  used += BYTES;
  text[VARIANT] = DIGITS[8 | ((random[from + BYTES - 1] as number) & 3)] as number;
  for (let at = 0; at < RANDOM.length; at++) {
    const byte = random[from + (at >> 1)] as number;
    text[RANDOM[at] as number] = DIGITS[at & 1 ? byte & 15 : byte >> 4] as number;
  }
  return text.toString('latin1');
}

let lastMs = -1;

function writeTime(ms: number): void {
  lastMs = ms;
  const digits = ms.toString(16).padStart(12, '0');
  text.write(`${digits.slice(0, 8)}-${digits.slice(8)}`, 'latin1');
}
