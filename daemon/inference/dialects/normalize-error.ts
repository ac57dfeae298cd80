import { ERRORS } from '../../contract/errors.ts';
import { statusOf } from '../forward/in-band-error.ts';
import { tooLongNumbers } from '../forward/too-long.ts';
import { asObject, type Json } from './json.ts';

/** The error that an event or a body of an engine tells; undefined when it tells none. */
export function errorOf({ error }: Json): Json | undefined {
  return typeof error === 'string' && error !== '' ? { message: error } : asObject(error);
}

/**
 * An engine's error with all that clients read in every one: a text, a code that is a text, a type and a param. What the
 * engine said of these stays, but for the code of a prompt that its words call too long: agents go by it, and DeepSeek has
 * another. `status`: of its answer; null within one.
 */
export function normalizeError(error: Json, status: number | null, typeOf: (status: number) => string): Json {
  const { message, code, type, param } = error;
  const { status: usual, message: sentence } = ERRORS['upstream.error'];
  return {
    ...error,
    message: isPresent(message) ? message : sentence,
    code: codeOf(code, message),
    type: isPresent(type) ? type : typeOf(status ?? statusOf(error) ?? usual),
    param: isPresent(param) ? param : null,
  };
}

function codeOf(code: unknown, message: unknown): unknown {
  if (typeof message === 'string' && tooLongNumbers(message) !== null) return 'context_length_exceeded';
  return isPresent(code) ? code : 'upstream.error';
}

const isPresent = (value: unknown): boolean => typeof value === 'string' && value !== '';
