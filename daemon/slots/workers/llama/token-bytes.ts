/** Code points that byte-level BPE writes as themselves; all other bytes follow from 256, in their order. */
const PRINTABLE: readonly (readonly [number, number])[] = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
];

/** Bytes by the character that stands for them in a byte-level BPE vocabulary, such as that of GPT-2. */
const BYTE_OF: ReadonlyMap<string, number> = new Map(byteCharacters());

function* byteCharacters(): Generator<[string, number]> {
  let next = 256;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable = PRINTABLE.some(([from, to]) => byte >= from && byte <= to);
    yield [String.fromCodePoint(isPrintable ? byte : next++), byte];
  }
}

/** A byte of a SentencePiece vocabulary. */
const BYTE_TOKEN = /^<0x([0-9A-Fa-f]{2})>$/;

/**
 * Returns the bytes of an entry of a GGUF vocabulary. `model` is `tokenizer.ggml.model` of the file. Null for a
 * vocabulary whose entries cannot be converted.
 */
export function tokenBytes(entry: string, model: string | undefined): number[] | null {
  const single = BYTE_TOKEN.exec(entry)?.[1];
  if (single !== undefined) return [Number.parseInt(single, 16)];
  if (model !== 'gpt2') return null;
  const bytes = [...entry].map((character) => BYTE_OF.get(character));
  return bytes.every((byte) => byte !== undefined) ? bytes : null;
}
