import { isSchema } from '../json/schema-shape.ts';
import { jsonValue } from './json-value.ts';
import type { Accepts, SchemaOf, State } from './scanner.ts';

const NAME = /[A-Za-z_][\w.]*/y;
const MAX_NAME_CHARS = 256;
/** A call that has not ended after this many characters is text. */
const MAX_CALL_CHARS = 16_384;
/** The form in which Llama 3 calls a built-in tool: `brave_search.call(query="…")`. */
const TRAINED = '.call';

/** True when a call `name(` of an accepted tool starts at `at`; `open` when it may still become one. */
export function startsPythonCall(text: string, at: number, accepts: Accepts): boolean | 'open' {
  NAME.lastIndex = at;
  const word = NAME.exec(text)?.[0] ?? '';
  const end = at + word.length;
  if (end >= text.length) return word.length <= MAX_NAME_CHARS ? 'open' : false;
  return word !== '' && text[end] === '(' && accepts(toolOf(word, accepts));
}

/**
 * Reads one call in Python syntax, `name(key=value, value)`. Values without a key are the parameters in the
 * order of the tool's schema. The call is known only when complete. `before` is the preceding text, which is
 * returned when it is no call.
 */
export function pythonCall(
  before: string,
  accepts: Accepts,
  schemaOf: SchemaOf,
  after: { done: () => State; failed: () => State },
): State {
  const state: State = {
    step(text, from, out) {
      const end = callEnd(text, from);
      if (end < 0 && text.length - from <= MAX_CALL_CHARS) return null;
      const open = text.indexOf('(', from);
      const name = toolOf(text.slice(from, open), accepts);
      const values = end < 0 ? null : readArguments(text.slice(open + 1, end - 1), namesOf(schemaOf(name)));
      if (values === null) {
        const to = end < 0 ? text.length : end;
        out.push({ type: 'text', text: before + text.slice(from, to) });
        return { at: to, next: after.failed() };
      }
      out.push({ type: 'call', name }, { type: 'arguments', text: values }, { type: 'callEnd' });
      return { at: end, next: after.done() };
    },
    flush: (unread) => before + unread,
  };
  return state;
}

const toolOf = (word: string, accepts: Accepts): string =>
  !accepts(word) && word.endsWith(TRAINED) ? word.slice(0, -TRAINED.length) : word;

function namesOf(schema: unknown): string[] {
  return isSchema(schema) && isSchema(schema.properties) ? Object.keys(schema.properties) : [];
}

/**
 * Returns the position after the closing bracket of the call that starts at `from`; -1 when it does not end.
 */
function callEnd(text: string, from: number): number {
  const open = text.indexOf('(', from);
  const ends = topLevel(text, open + 1, ')');
  return open < 0 || ends.length === 0 ? -1 : (ends[0] as number) + 1;
}

/**
 * Returns the positions of `character` outside of strings and brackets. The search ends at the first
 * unmatched closing bracket.
 */
function topLevel(text: string, from: number, character: string): number[] {
  const found: number[] = [];
  let depth = 0;
  let quote = '';
  for (let at = from; at < text.length; at++) {
    const c = text[at] as string;
    if (quote !== '') {
      if (c === '\\') at += 1;
      else if (c === quote) quote = '';
      continue;
    }
    if (depth === 0 && c === character) found.push(at);
    if (c === '"' || c === "'") quote = c;
    else if ('([{'.includes(c)) depth += 1;
    else if (')]}'.includes(c)) depth -= 1;
    if (depth < 0) break;
  }
  return found;
}

/** Returns the arguments as one JSON object. Null when a value is invalid or has no name. */
function readArguments(text: string, names: readonly string[]): string | null {
  const cuts = [-1, ...topLevel(text, 0, ','), text.length];
  const values = new Map<string, string>();
  for (const [i, cut] of cuts.slice(1).entries()) {
    const part = text.slice((cuts[i] as number) + 1, cut).trim();
    if (part === '') continue;
    const key = /^([A-Za-z_]\w*)\s*=(?!=)/.exec(part);
    const name = key?.[1] ?? names[i];
    const value = asJson(key === null ? part : part.slice(key[0].length));
    if (name === undefined || value === null) return null;
    values.set(name, value);
  }
  return `{${[...values].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

function asJson(text: string): string | null {
  const trimmed = text.trim();
  const { out, end } = jsonValue().push(`${trimmed},`, 0);
  if (end !== trimmed.length) return null;
  try {
    JSON.parse(out);
    return out;
  } catch {
    return null;
  }
}
