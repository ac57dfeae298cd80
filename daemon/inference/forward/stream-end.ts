/** The line that closes every stream of OpenAI's chats. */
const DONE = /^data:\s*\[DONE\]/m;
/**
 * A chunk that says why a choice has ended (one that always sends an empty reason says nothing by it), or that llama.cpp's own
 * completion has; in a text of the model the second quote would be escaped.
 */
const FINISHED = /"finish_reason"\s*:\s*"[^"]|"stop"\s*:\s*true\b/;
/** So many characters of what follows are enough to read a finish that two pieces share. */
export const FINISH_LENGTH = 64;

/** Whether a text of a streamed chat or completion holds a finish. */
export const hasFinishReason = (text: string): boolean => FINISHED.test(text);

/**
 * Whether the last text of a streamed chat or completion tells that it is whole. Engines whose stream ends with the
 * connection end it alike when they die, and not each of them sends `[DONE]`: a finish reason will do, here or `before`, unless
 * the text breaks off inside an event.
 */
export function isComplete(end: string, before = false): boolean {
  return DONE.test(end) || ((before || hasFinishReason(end)) && !endsInsideEvent(end));
}

function endsInsideEvent(end: string): boolean {
  const line = end.slice(Math.max(end.lastIndexOf('\n'), end.lastIndexOf('\r')) + 1);
  if (!line.startsWith('data:')) return false;
  try {
    JSON.parse(line.slice('data:'.length));
    return false;
  } catch {
    return true;
  }
}
