import { ERRORS, openaiErrorType } from '../../contract/errors.ts';
import { tooLongNumbers } from '../forward/context-overflow.ts';
import { statusOf } from '../forward/in-band-error.ts';
import { asObject, type Json } from './json.ts';

/** Returns the error of an event or body; undefined when it has none. */
export function errorOf({ error }: Json): Json | undefined {
  return typeof error === 'string' && error !== '' ? { message: error } : asObject(error);
}

/** Returns the error type of an API for a status, given the type that the engine sent. */
export type ErrorTypeOf = (status: number, engineType: unknown) => string;

/** Keeps the engine's own error type; OpenAI's clients accept any. */
export const keepErrorType: ErrorTypeOf = (status, engineType) =>
  typeof engineType === 'string' && engineType !== '' ? engineType : openaiErrorType(status);

/**
 * Completes an engine's error with the fields that clients require: message, string code, type and param.
 * Keeps the engine's values, except for the type, which `typeOf` decides, and the code of a prompt that is too
 * long by its message: agents check that code, and DeepSeek sends another. `status` is the status of the
 * response; null inside one.
 */
export function normalizeError(error: Json, status: number | null, typeOf: ErrorTypeOf): Json {
  const { message, code, type, param } = error;
  const { status: usual, message: sentence } = ERRORS['upstream.error'];
  return {
    ...error,
    message: isPresent(message) ? message : sentence,
    code: codeOf(code, message),
    type: typeOf(status ?? statusOf(error) ?? usual, type),
    param: isPresent(param) ? param : null,
  };
}

function codeOf(code: unknown, message: unknown): unknown {
  if (typeof message === 'string' && tooLongNumbers(message) !== null) return 'context_length_exceeded';
  return isPresent(code) ? code : 'upstream.error';
}

const isPresent = (value: unknown): boolean => typeof value === 'string' && value !== '';
