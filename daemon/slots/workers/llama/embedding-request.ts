import { z } from 'zod';
import { invalidField } from '../refusal.ts';
import { parseBody } from './request.ts';

/** A text, or tokens of the model's vocabulary. */
export type EmbeddingInput = string | readonly number[];

export interface EmbeddingRequest {
  inputs: readonly EmbeddingInput[];
  format: 'float' | 'base64';
  /** The requested vector length. Null: the model's own. */
  dimensions: number | null;
}

/** Texts per request, the same limit as OpenAI's. */
export const MAX_INPUTS = 2_048;

const body = z.looseObject({
  input: z.unknown(),
  encoding_format: z.enum(['float', 'base64'], { error: 'must be "float" or "base64"' }).nullish(),
  dimensions: z.int().min(1).nullish(),
});

/** Parses the body of `POST /v1/embeddings`. Throws a 400 that names the invalid field. */
export function embeddingRequest(input: unknown): EmbeddingRequest {
  const parsed = parseBody(body, input);
  return {
    inputs: readInputs(parsed.input),
    format: parsed.encoding_format ?? 'float',
    dimensions: parsed.dimensions ?? null,
  };
}

function readInputs(value: unknown): EmbeddingInput[] {
  if (!Array.isArray(value)) return [readOne(value, 'input')];
  if (value.length === 0) throw wrong('input', 'must not be empty');
  if (value.every((each) => typeof each === 'number')) return [readOne(value, 'input')];
  if (value.length > MAX_INPUTS) throw wrong('input', `contains more than ${MAX_INPUTS} items`);
  return value.map((each, index) => readOne(each, `input[${index}]`));
}

function readOne(value: unknown, place: string): EmbeddingInput {
  if (typeof value === 'string') {
    if (value === '') throw wrong(place, 'must not be empty');
    return value;
  }
  if (!Array.isArray(value)) throw wrong(place, 'must be a string or an array of tokens');
  if (value.length === 0) throw wrong(place, 'must not be empty');
  if (!value.every((token) => Number.isSafeInteger(token) && token >= 0))
    throw wrong(place, 'a token must be a whole number that is not negative');
  return value as number[];
}

const wrong = (place: string, why: string) => invalidField('input', `${place}: ${why}`);
