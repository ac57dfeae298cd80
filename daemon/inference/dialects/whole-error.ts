import { ERRORS } from '../../contract/errors.ts';
import { statusOf } from '../forward/told-failure.ts';
import { asObject, type Json } from './json.ts';

/** The error that an event or a body of an engine tells; undefined when it tells none. */
export function errorOf({ error }: Json): Json | undefined {
  return typeof error === 'string' && error !== '' ? { message: error } : asObject(error);
}

/**
 * An engine's error with all that clients read in every one: a text, a code that is a text, a type and a param. What the
 * engine said of these stays. `status`: of its answer; null within one.
 */
export function wholeError(error: Json, status: number | null, typeOf: (status: number) => string): Json {
  const { message, code, type, param } = error;
  const { status: usual, message: sentence } = ERRORS['upstream.error'];
  return {
    ...error,
    message: isSaid(message) ? message : sentence,
    code: isSaid(code) ? code : 'upstream.error',
    type: isSaid(type) ? type : typeOf(status ?? statusOf(error) ?? usual),
    param: isSaid(param) ? param : null,
  };
}

const isSaid = (value: unknown): boolean => typeof value === 'string' && value !== '';
