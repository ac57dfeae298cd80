/** Characters of numbers and of the words true, false and null. */
const SCALAR = /[-+.\w]/;

/** What may follow in JSON text. */
type Expected = 'value' | 'value or ]' | 'key' | 'key or }' | ':' | ', or end' | 'nothing';

const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/**
 * Returns whether `text` can be continued to a JSON object, or is one. Checks the structure only: scalars and
 * escapes are not validated.
 */
export function isObjectPrefix(text: string): boolean {
  const open: string[] = [];
  let expected: Expected = 'value';
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string;
    if (character.trim() === '') continue;
    if (open.length === 0 && (expected === 'nothing' || character !== '{')) return false;
    const next = after(character, expected, open);
    if (next === null) return false;
    expected = next;
    if (character === '"') at = stringEnd(text, at);
    else if (SCALAR.test(character)) while (SCALAR.test(text[at + 1] ?? '')) at++;
  }
  return true;
}

/** Returns what may follow `character`, and updates the open brackets; null when it may not be there. */
function after(character: string, expected: Expected, open: string[]): Expected | null {
  const isValue = expected === 'value' || expected === 'value or ]';
  if (character === '{' || character === '[') {
    if (!isValue) return null;
    open.push(character);
    return character === '{' ? 'key or }' : 'value or ]';
  }
  if (character === '}' || character === ']') {
    const isEmpty = expected === (character === '}' ? 'key or }' : 'value or ]');
    if (CLOSERS[open.at(-1) ?? ''] !== character || !(isEmpty || expected === ', or end')) return null;
    open.pop();
    return open.length === 0 ? 'nothing' : ', or end';
  }
  if (character === '"') {
    if (expected === 'key' || expected === 'key or }') return ':';
    return isValue ? ', or end' : null;
  }
  if (character === ':') return expected === ':' ? 'value' : null;
  if (character !== ',') return isValue && SCALAR.test(character) ? ', or end' : null;
  if (expected !== ', or end') return null;
  return open.at(-1) === '{' ? 'key' : 'value';
}

/** Returns the position of the quote that ends the string at `start`; that of the last character without one. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
