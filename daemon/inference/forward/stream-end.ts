/** The line that closes every chat stream of OpenAI. */
const DONE = /^data:\s*\[DONE\]/m;
/**
 * Matches the finish reason of a choice (not an empty one, which some engines always send) or the end of
 * llama.cpp's own completion. Inside a model's text the second quote would be escaped.
 */
const FINISHED = /"finish_reason"\s*:\s*"[^"]|"stop"\s*:\s*true\b/;
/** Number of following characters needed to find a finish reason that is split across two chunks. */
export const FINISH_LENGTH = 64;

/** Returns whether a text of a streamed chat or completion contains a finish reason. */
export const hasFinishReason = (text: string): boolean => FINISHED.test(text);

/**
 * Returns whether the end of a streamed chat or completion shows that it is complete. A stream that ends with
 * its connection looks the same when the engine dies, and not every engine sends `[DONE]`. A finish reason is
 * enough, here or `before`, unless the text ends inside an event.
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
