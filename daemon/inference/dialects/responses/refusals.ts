import { invalidField } from '../read-body.ts';
import type { ResponsesBody } from './request-schema.ts';

const STATELESS =
  'this gateway stores no conversations: send the whole conversation as input, or use previous_response_id within 30 minutes';

/** Fields that require stored responses, with the error message. */
const UNSUPPORTED_FIELDS: readonly [field: keyof ResponsesBody, why: string][] = [
  ['conversation', STATELESS],
  ['background', 'answers are made while the caller waits; leave it out'],
  ['prompt', 'this gateway stores no prompts: send instructions and input'],
];
/** Probabilities of tokens, which a translated response does not have. */
const LOGPROBS = 'message.output_text.logprobs';

/** Throws `request.invalid` for the first unsupported field. `null` and `false` request nothing. */
export function rejectUnsupportedFields(body: ResponsesBody): void {
  for (const [field, why] of UNSUPPORTED_FIELDS) {
    const value = body[field];
    if (value !== undefined && value !== null && value !== false) throw invalidField(field, why);
  }
}

/** Returns the requested extras that the response will not contain. */
export function unsupportedExtras({ include, top_logprobs: top }: ResponsesBody): string[] {
  return [...(include?.includes(LOGPROBS) ? [LOGPROBS] : []), ...((top ?? 0) > 0 ? ['top_logprobs'] : [])];
}
