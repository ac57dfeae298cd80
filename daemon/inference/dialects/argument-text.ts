import { asObject, parsed } from './json.ts';
import { isObjectPrefix } from './json-prefix.ts';
import { ObjectProgress } from './object-progress.ts';

/**
 * `unknown`: no text that decides the form. `text`: the text as it is. `growing`: each fragment repeats all text
 * before it. `quoted`: a JSON string that contains the text.
 */
type Form = 'unknown' | 'text' | 'growing' | 'quoted';

/** Arguments that stand for none; some engines send them before the real ones. */
const PLACEHOLDER = /^\s*(?:null|\{\s*\})\s*$/;
const PLACEHOLDER_BEFORE = /^\s*(?:null|\{\s*\})\s*(?=\{)/;

/**
 * Reads the arguments of one call from fragments, in the forms that engines send, and returns them as the text of
 * one object. Text in any other form passes unchanged. Text after the object is dropped: it repeats the object, or
 * is the end of a tag.
 */
export class ArgumentText {
  readonly #progress = new ObjectProgress();
  #form: Form = 'unknown';
  /** The text so far, to recognise fragments that repeat it. */
  #sent = '';
  /** Text that is not returned yet, while the form is unknown or quoted. */
  #held = '';
  /** The last character of a quoted text is an escaping backslash. */
  #isEscaped = false;

  /** Nothing that counts as arguments has arrived. */
  get isEmpty(): boolean {
    return this.#form === 'unknown' && (this.#held === '' || this.#held === 'null');
  }

  /** A whole object has arrived. */
  get isComplete(): boolean {
    return this.#progress.isComplete || (this.#form === 'unknown' && this.#held.endsWith('}'));
  }

  /** Returns the text that the fragment adds. Holds text that may be a placeholder or an incomplete JSON string. */
  push(fragment: string): string {
    if (this.#progress.isComplete) return '';
    if (this.#form === 'quoted') return this.#quoted(fragment);
    const text = this.#added(fragment);
    if (this.#form !== 'unknown') return this.#text(text);
    this.#held = this.#held === '' ? text.trimStart() : this.#held + text;
    // White space after a placeholder adds nothing; without end it would be matched again with each fragment.
    if (text.trim() === '' && PLACEHOLDER.test(this.#held)) this.#held = this.#held.trimEnd();
    if (this.#held === '' || 'null'.startsWith(this.#held) || PLACEHOLDER.test(this.#held)) return '';
    const start = this.#held.replace(PLACEHOLDER_BEFORE, '');
    this.#held = '';
    if (start.startsWith('"')) {
      this.#form = 'quoted';
      return this.#quoted(start);
    }
    this.#form = 'text';
    return this.#text(start);
  }

  /** Returns the held text at the end of the call. */
  end(): string {
    const held = this.#held;
    this.#held = '';
    if (!PLACEHOLDER.test(held)) return held;
    return held.startsWith('{') ? '{}' : '';
  }

  /** Returns what a fragment adds to the text before it. */
  #added(fragment: string): string {
    const { length } = this.#sent;
    if (length === 0 || fragment.length < length || !fragment.startsWith(this.#sent)) return fragment;
    // `{"a":` and then `{"a":1}` are valid together, so they are parts.
    if (this.#form === 'text' && isObjectPrefix(this.#sent + fragment)) return fragment;
    if (!isObjectPrefix(fragment)) return fragment;
    this.#form = 'growing';
    return fragment.slice(length);
  }

  #text(text: string): string {
    this.#sent += text;
    return text.slice(0, this.#progress.push(text));
  }

  /** Returns the object in a JSON string once that ends; the string itself when it contains no object. */
  #quoted(fragment: string): string {
    const before = this.#held.length;
    this.#held += fragment;
    const end = this.#quoteIn(fragment, before === 0 ? 1 : 0);
    if (end < 0) return '';
    const string = this.#held.slice(0, before + end + 1);
    const inner = String(parsed(string) ?? '').trim();
    this.#held = '';
    this.#form = 'text';
    if (inner === '' || inner === 'null') return '';
    return this.#text(asObject(parsed(inner)) ? inner : string);
  }

  /** Returns the position of the closing quote in a fragment; -1 without one. */
  #quoteIn(fragment: string, from: number): number {
    for (let at = from; at < fragment.length; at++) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (fragment[at] === '\\') this.#isEscaped = true;
      else if (fragment[at] === '"') return at;
    }
    return -1;
  }
}
