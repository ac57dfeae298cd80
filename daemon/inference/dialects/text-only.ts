import type { Json } from './json.ts';

const TEXT_ONLY = new WeakMap<object, Json | null>();

/**
 * Records the form of a message for models without vision: its images in tool results and older turns are
 * placeholders. Null leaves the message out.
 */
export function recordTextOnly(message: object, form: Json | null): void {
  TEXT_ONLY.set(message, form);
}

/** Returns that form; undefined for a message that is the same for every model. */
export const textOnlyOf = (message: object): Json | null | undefined => TEXT_ONLY.get(message);
