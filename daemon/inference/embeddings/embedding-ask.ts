import { type ArrayVisitor, ByteScanner, stringAt } from '../../lib/json/byte-scanner.ts';
import { refused } from '../dialects/read-body.ts';
import { type BodyPicture, type Field, fieldOf } from '../rewrite/body-index.ts';

/** What an embeddings request asks for, as far as the gateway reads it. */
export interface EmbeddingAsk {
  readonly format: 'float' | 'base64';
  /** The length of vector that was asked for; null takes the model's. */
  readonly dimensions: number | null;
  /** Vectors that are wanted. */
  readonly count: number;
  /** Some of the inputs are token ids. */
  readonly tokens: boolean;
}

/** Inputs of one request, as OpenAI allows. */
export const INPUTS_MOST = 2_048;

/** A fault of an embeddings request: 400 as at OpenAI and in the embedded engine. */
export const wrong = (path: string, reason: string) => refused(path, reason, 400);

/** Reads what was asked for without parsing the inputs; throws `request.invalid` (400) that names the field at fault. */
export function embeddingAsk(picture: BodyPicture): EmbeddingAsk {
  return {
    format: formatOf(picture, fieldOf(picture, 'encoding_format')),
    dimensions: dimensionsOf(picture, fieldOf(picture, 'dimensions')),
    ...inputsOf(picture, fieldOf(picture, 'input')),
  };
}

function formatOf(picture: BodyPicture, field: Field | undefined): EmbeddingAsk['format'] {
  if (field === undefined || field.kind === 'null') return 'float';
  const text = field.kind === 'string' ? stringAt(picture.bytes, field.value) : null;
  if (text !== 'float' && text !== 'base64') throw wrong('encoding_format', 'must be "float" or "base64"');
  return text;
}

function dimensionsOf(picture: BodyPicture, field: Field | undefined): number | null {
  if (field === undefined || field.kind === 'null') return null;
  const { start, end } = field.value;
  const value = field.kind === 'number' ? Number(picture.bytes.toString('latin1', start, end)) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < 1) throw wrong('dimensions', 'must be a whole number above 0');
  return value;
}

type Inputs = Pick<EmbeddingAsk, 'count' | 'tokens'>;

function inputsOf(picture: BodyPicture, field: Field | undefined): Inputs {
  if (field === undefined || field.kind === 'null') throw wrong('input', 'is required');
  const { start, end } = field.value;
  if (field.kind === 'string') {
    if (end - start === EMPTY) throw wrong('input', 'must not be empty');
    return { count: 1, tokens: false };
  }
  if (field.kind !== 'array') throw wrong('input', 'must be a text, tokens, or a list of either');
  return listed(new ByteScanner(picture.bytes.subarray(start, end)));
}

/** Bytes of a string or an array that holds nothing. */
const EMPTY = 2;

function listed(scanner: ByteScanner): Inputs {
  const { count, numbers, lists } = new InputList(scanner).walked();
  if (count === 0) throw wrong('input', 'must not be empty');
  if (numbers === count) return { count: 1, tokens: true };
  if (numbers > 0) throw wrong('input', 'must not mix tokens with texts');
  if (count > INPUTS_MOST)
    throw wrong('input', `holds ${count} items, ${INPUTS_MOST} at most go in one request`);
  return { count, tokens: lists > 0 };
}

/** What the list of inputs holds. */
class InputList implements ArrayVisitor {
  count = 0;
  numbers = 0;
  lists = 0;
  readonly #scanner: ByteScanner;

  constructor(scanner: ByteScanner) {
    this.#scanner = scanner;
  }

  walked(): this {
    this.#scanner.array(this);
    return this;
  }

  element(): void {
    const scanner = this.#scanner;
    const start = scanner.at;
    const kind = scanner.kind();
    if (kind === 'array') tokensAt(scanner, this.count);
    else scanner.value();
    const empty = kind === 'string' && scanner.at - start === EMPTY;
    if (empty) throw wrong('input', `input[${this.count}]: must not be empty`);
    if (kind !== 'number' && kind !== 'array' && kind !== 'string')
      throw wrong('input', `input[${this.count}]: must be a text or tokens`);
    this.count++;
    if (kind === 'number') this.numbers++;
    if (kind === 'array') this.lists++;
  }
}

function tokensAt(scanner: ByteScanner, index: number): void {
  const place = `input[${index}]`;
  let count = 0;
  scanner.array({
    element() {
      count++;
      if (scanner.value() !== 'number') throw wrong('input', `${place}: a token must be a number`);
    },
  });
  if (count === 0) throw wrong('input', `${place}: must not be empty`);
}
