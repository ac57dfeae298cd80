/** The start of an event stream, whatever its content type says. */
const STARTS_LIKE_EVENTS = /^\ufeff?\s*(?:data|event|id|retry)?:/;
const STARTS_LIKE_JSON = /^\ufeff?\s*[{[]/;
const STARTS_LIKE_MARKUP = /^\ufeff?\s*</;
/** Bytes from which the form of a response is recognised. */
export const FORM_BYTES = 64;

/** `blank`: only white space so far. `other`: none of the known forms. */
export type AnswerForm = 'events' | 'json' | 'markup' | 'blank' | 'other';

/** Returns the form of a body by its first bytes. */
export function formOf(head: Buffer): AnswerForm {
  const start = head.toString('utf8', 0, FORM_BYTES);
  if (STARTS_LIKE_EVENTS.test(start)) return 'events';
  if (STARTS_LIKE_JSON.test(start)) return 'json';
  if (STARTS_LIKE_MARKUP.test(start)) return 'markup';
  return start.trim() === '' ? 'blank' : 'other';
}

/** Returns whether a content type means JSON. */
export const isJsonType = (type: string | undefined): boolean => type !== undefined && /json/i.test(type);
