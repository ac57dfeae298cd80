import { asList, asObject, type Json } from '../dialects/json.ts';

/**
 * Appends streamed content of a message: a text grows, and a list of parts (Mistral sends thoughts so) continues its
 * last part. A text that follows parts is a part, and parts that follow a text make it one.
 */
export function appendedContent(before: unknown, more: unknown): unknown {
  if (more === undefined || more === null || more === '') return before ?? more;
  if (Array.isArray(more) && more.length === 0) return before ?? '';
  if (typeof more === 'string' && !Array.isArray(before)) return `${before ?? ''}${more}`;
  const parts = partsOf(before);
  for (const part of partsOf(more)) {
    const last = parts.at(-1);
    const joined = last === undefined ? null : joinedPart(last, part);
    if (joined === null) parts.push(part);
    else parts[parts.length - 1] = joined;
  }
  return parts;
}

function partsOf(content: unknown): Json[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return asList(content).flatMap((part) => {
    const read = asObject(part);
    return read === undefined ? [] : [read];
  });
}

/** Fields that grow, by the type of their part. */
const GROWING: Readonly<Record<string, string>> = { text: 'text', thinking: 'thinking', refusal: 'refusal' };

/** Returns one part for two of the same type; null for any others. */
function joinedPart(last: Json, part: Json): Json | null {
  const field = last.type === part.type ? GROWING[String(part.type)] : undefined;
  if (field === undefined) return null;
  return { ...last, ...part, [field]: appendedContent(last[field], part[field]) };
}
