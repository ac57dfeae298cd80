import { type FailureOptions, GatewayError } from './errors.ts';

/** One invalid value: its path in the request, and a reason such as `must be a number`. Never the value. */
export interface InvalidField {
  readonly path: string;
  readonly reason: string;
}

/** Maximum number of fields in a message. `details.fields` has the others. */
const MAX_FIELDS = 4;
/** Reasons that continue a sentence which starts with the name of the field. */
const PREDICATE = /^(must|is|are|has|have|cannot|can|needs|names|contains|exceeds)\b/;

/** Adds a full stop where a text ends without punctuation. */
const ended = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/**
 * A sentence for a person: `Context must be a whole number.` A reason with its own subject stays alone: `The file
 * does not exist.`
 */
export function fieldSentence(label: string, reason: string): string {
  if (PREDICATE.test(reason)) return ended(`${label} ${reason}`);
  return ended(reason.charAt(0).toUpperCase() + reason.slice(1));
}

function clause({ path, reason }: InvalidField): string {
  return `${path || 'The body'}${PREDICATE.test(reason) ? '' : ':'} ${reason.replace(/\.$/, '')}`;
}

/** Describes invalid fields in one sentence; undefined without fields. */
export function invalidFieldsMessage(fields: readonly InvalidField[]): string | undefined {
  if (fields.length === 0) return undefined;
  const more = fields.length - MAX_FIELDS;
  return `${fields.slice(0, MAX_FIELDS).map(clause).join('; ')}${more > 0 ? `; and ${more} more` : ''}.`;
}

/**
 * Returns 422 `request.invalid`. The message names the fields and what each must be; `details.fields` has the same as
 * data.
 */
export const invalidRequest = (fields: readonly InvalidField[], options: FailureOptions = {}): GatewayError =>
  new GatewayError('request.invalid', {
    message: invalidFieldsMessage(fields),
    ...options,
    details: { fields },
  });
