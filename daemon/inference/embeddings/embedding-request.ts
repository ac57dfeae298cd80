import { type ArrayVisitor, ByteScanner, stringAt } from '../../lib/json/byte-scanner.ts';
import { invalidField } from '../dialects/read-body.ts';
import { type BodyIndex, type Field, fieldOf } from '../rewrite/body-index.ts';

/** An embeddings request as far as the gateway parses it. */
export interface EmbeddingRequest {
  readonly format: 'float' | 'base64';
  /** The requested vector length; null uses the model's. */
  readonly dimensions: number | null;
  /** Number of requested vectors. */
  readonly count: number;
  /** Some of the inputs are token ids. */
  readonly tokens: boolean;
}

/** Maximum inputs per request, as at OpenAI. */
export const MAX_INPUTS = 2_048;

/** Parses the request without parsing the inputs. Throws `request.invalid` (422) with the field at fault. */
export function parseEmbeddingRequest(index: BodyIndex): EmbeddingRequest {
  return {
    format: formatOf(index, fieldOf(index, 'encoding_format')),
    dimensions: dimensionsOf(index, fieldOf(index, 'dimensions')),
    ...inputsOf(index, fieldOf(index, 'input')),
  };
}

function formatOf(index: BodyIndex, field: Field | undefined): EmbeddingRequest['format'] {
  if (field === undefined || field.kind === 'null') return 'float';
  const text = field.kind === 'string' ? stringAt(index.bytes, field.value) : null;
  if (text !== 'float' && text !== 'base64')
    throw invalidField('encoding_format', 'must be "float" or "base64"');
  return text;
}

function dimensionsOf(index: BodyIndex, field: Field | undefined): number | null {
  if (field === undefined || field.kind === 'null') return null;
  const { start, end } = field.value;
  const value = field.kind === 'number' ? Number(index.bytes.toString('latin1', start, end)) : Number.NaN;
  if (!Number.isSafeInteger(value) || value < 1)
    throw invalidField('dimensions', 'must be a whole number above 0');
  return value;
}

type Inputs = Pick<EmbeddingRequest, 'count' | 'tokens'>;

function inputsOf(index: BodyIndex, field: Field | undefined): Inputs {
  if (field === undefined || field.kind === 'null') throw invalidField('input', 'is required');
  const { start, end } = field.value;
  if (field.kind === 'string') {
    if (end - start === EMPTY) throw invalidField('input', 'must not be empty');
    return { count: 1, tokens: false };
  }
  if (field.kind !== 'array') throw invalidField('input', 'must be a text, tokens, or a list of either');
  return parseList(new ByteScanner(index.bytes.subarray(start, end)));
}

/** Bytes of an empty string or array. */
const EMPTY = 2;

function parseList(scanner: ByteScanner): Inputs {
  const { count, numbers, lists } = new InputList(scanner).scan();
  if (count === 0) throw invalidField('input', 'must not be empty');
  if (numbers === count) return { count: 1, tokens: true };
  if (numbers > 0) throw invalidField('input', 'must not mix tokens with texts');
  if (count > MAX_INPUTS)
    throw invalidField('input', `has ${count} items; the maximum per request is ${MAX_INPUTS}`);
  return { count, tokens: lists > 0 };
}

/** Counts the elements of the input list. */
class InputList implements ArrayVisitor {
  count = 0;
  numbers = 0;
  lists = 0;
  readonly #scanner: ByteScanner;

  constructor(scanner: ByteScanner) {
    this.#scanner = scanner;
  }

  scan(): this {
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
    if (empty) throw invalidField('input', `input[${this.count}]: must not be empty`);
    if (kind !== 'number' && kind !== 'array' && kind !== 'string')
      throw invalidField('input', `input[${this.count}]: must be a text or tokens`);
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
      if (scanner.value() !== 'number') throw invalidField('input', `${place}: a token must be a number`);
    },
  });
  if (count === 0) throw invalidField('input', `${place}: must not be empty`);
}
