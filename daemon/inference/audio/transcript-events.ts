import { sseData } from '../../lib/net/sse.ts';
import { asObject, parsed } from '../dialects/json.ts';

/** Converts a complete JSON transcript to the events of a streamed one; null for any other body. */
export function transcriptEvents(bytes: Buffer): string | null {
  const text = asObject(parsed(bytes.toString('utf8')))?.text;
  if (typeof text !== 'string') return null;
  const delta = text === '' ? '' : sseData({ type: 'transcript.text.delta', delta: text });
  return delta + sseData({ type: 'transcript.text.done', text });
}
