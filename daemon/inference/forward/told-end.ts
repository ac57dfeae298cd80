/** The line that closes every stream of OpenAI's chats. */
const DONE = /^data:\s*\[DONE\]/m;
/** A chunk that says why a choice has ended; in a text of the model the second quote would be escaped. */
const FINISHED = /"finish_reason"\s*:\s*"/;

/**
 * Whether the last text of a streamed chat or completion tell that it is whole. Engines whose stream ends with the
 * connection end it alike when they die, and not each of them sends `[DONE]`: a finish reason will do.
 */
export function tellsItsEnd(end: string): boolean {
  return DONE.test(end) || FINISHED.test(end);
}
