/** The characters by which a GPT-2 style byte-level vocabulary represents the 256 bytes, in byte order. */
export const BYTE_SPELLING: readonly string[] = spellBytes();

function spellBytes(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : next++));
}

function isPrintable(byte: number): boolean {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255);
}

/** Converts `text` to that representation. */
export function spell(text: string): string {
  return [...Buffer.from(text, 'utf8')].map((byte) => BYTE_SPELLING[byte]).join('');
}
