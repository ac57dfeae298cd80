import { isSchema, type Schema } from '../json/schema-shape.ts';
import { longestOpenEnd } from '../stop-scanner.ts';
import type { CallScanner, Found } from './pieces.ts';
import {
  type Accepts,
  afterSpace,
  argumentValue,
  markAt,
  type SchemaOf,
  type State,
  scanner,
  untilMarks,
} from './scanner.ts';
import { asName } from './sectioned.ts';
import { isText, typedValue } from './typed-value.ts';

/** The tags of models that write each argument as bare text between tags of its own. */
export interface Tags {
  /** Around a call, where `open` does not open it by itself. */
  wrap: readonly [string, string] | null;
  /** Stands before the name, which ends where `nameEnd` begins. */
  open: string;
  nameEnd: RegExp;
  /** Before and after the name of an argument. */
  key: readonly [string, string];
  /** Stands before the value; null when it follows at once. */
  value: string | null;
  valueEnd: string;
  close: string;
  /** True: one line break at each rim of a value is not part of it. */
  padded: boolean;
}

const NAME_LONGEST = 256;

/** What is known of the call that is being read. */
interface Call {
  schema: Schema;
  /** Arguments told so far. */
  count: number;
}

/** Text, then calls with the tags of `tags`; values are typed by what the tools were offered with. */
export function taggedCalls(tags: Tags, accepts: Accepts, schemaOf: SchemaOf): CallScanner {
  const [wrap, unwrap] = tags.wrap ?? ['', ''];
  const outside = (): State =>
    untilMarks({
      ...(tags.wrap === null ? {} : { [wrap]: wrapped }),
      [tags.open]: () => name(tags.open),
    });
  const wrapped = (): State => ({
    step(text, from, out) {
      const at = afterSpace(text, from);
      const mark = at >= text.length ? 'open' : markAt(text, [tags.open], at);
      if (mark === 'open') return null;
      if (mark !== null) return { at: at + mark.length, next: name(wrap + text.slice(from, at) + mark) };
      out.push({ type: 'text', text: wrap });
      return { at: from, next: outside() };
    },
    rest: (kept) => wrap + kept,
  });
  const name = (before: string): State => ({
    step(text, from, out) {
      const length = text.slice(from).search(tags.nameEnd);
      if (length < 0 && text.length - from <= NAME_LONGEST) return null;
      const called = length < 0 ? null : asName(text.slice(from, from + length));
      if (called === null || !accepts(called)) {
        out.push({ type: 'text', text: before });
        return { at: from, next: outside() };
      }
      out.push({ type: 'call', name: called });
      const known = schemaOf(called);
      const skip = text[from + length] === '>' ? 1 : 0;
      return { at: from + length + skip, next: between({ schema: isSchema(known) ? known : {}, count: 0 }) };
    },
    rest: (kept) => before + kept,
  });
  /** Before an argument, or the end of the call. */
  const between = (call: Call): State => {
    const state: State = {
      step(text, from, out) {
        const at = afterSpace(text, from);
        if (at >= text.length) return { at, next: state };
        if (call.count === 0 && text[at] === '{') return { at, next: argumentValue(() => closing()) };
        const mark = markAt(text, [tags.key[0], tags.close], at);
        if (mark === 'open') return { at, next: state };
        if (mark === tags.key[0]) return { at: at + mark.length, next: key(call) };
        out.push(...ended(call));
        return { at: mark === null ? at : at + mark.length, next: unwrapped() };
      },
      rest: () => '',
    };
    return state;
  };
  const key = (call: Call): State => ({
    step(text, from, out) {
      const end = text.indexOf(tags.key[1], from);
      if (end < 0 && text.length - from <= NAME_LONGEST) return null;
      if (end < 0) {
        out.push(...ended(call));
        return { at: text.length, next: unwrapped() };
      }
      const named = text.slice(from, end).trim();
      const properties = isSchema(call.schema.properties) ? call.schema.properties : {};
      const schema = Object.hasOwn(properties, named) ? properties[named] : undefined;
      out.push({ type: 'arguments', text: `${call.count === 0 ? '{' : ','}${JSON.stringify(named)}:` });
      call.count += 1;
      const reader = valueReader(tags, schema, call.schema, () => between(call));
      return {
        at: end + tags.key[1].length,
        next: tags.value === null ? reader : opened(tags.value, reader),
      };
    },
    rest: () => '',
  });
  /** After arguments that were written as JSON. */
  const closing = (): State => skipped([tags.close], unwrapped);
  const unwrapped = (): State => (tags.wrap === null ? outside() : skipped([unwrap], outside));
  return scanner(outside());
}

const ended = ({ count }: Call): Found[] => [
  { type: 'arguments', text: count === 0 ? '{}' : '}' },
  { type: 'callEnd' },
];

/** Passes over spaces and one of `marks`, if it is there. */
function skipped(marks: readonly string[], next: () => State): State {
  const state: State = {
    step(text, from) {
      const at = afterSpace(text, from);
      const mark = at >= text.length ? 'open' : markAt(text, marks, at);
      if (mark === 'open') return { at, next: state };
      return { at: mark === null ? at : at + mark.length, next: next() };
    },
    rest: () => '',
  };
  return state;
}

/** Waits for the tag before a value. */
function opened(tag: string, next: State): State {
  const state: State = {
    step(text, from) {
      const at = text.indexOf(tag, from);
      if (at >= 0) return { at: at + tag.length, next };
      return { at: Math.max(from, text.length - longestOpenEnd(text, [tag])), next: state };
    },
    rest: () => '',
  };
  return state;
}

/** A value: a text is told as it comes, anything else once it is known whole. */
function valueReader(tags: Tags, schema: unknown, root: Schema, next: () => State): State {
  const told = isText(schema, root);
  const ends = tags.padded ? [`\n${tags.valueEnd}`, tags.valueEnd] : [tags.valueEnd];
  const parts: string[] = [];
  let begun = false;
  const take = (text: string, out: Found[]): void => {
    if (!told) parts.push(text);
    else if (text !== '' || !begun)
      out.push({ type: 'arguments', text: `${begun ? '' : '"'}${escaped(text)}` });
    begun = true;
  };
  const state: State = {
    step(text, from, out) {
      let start = from;
      if (!begun && tags.padded) {
        if (start >= text.length) return null;
        if (text[start] === '\n' && !text.startsWith(ends[0] as string, start)) start += 1;
      }
      const at = text.indexOf(tags.valueEnd, start);
      if (at < 0) {
        const end = Math.max(start, text.length - longestOpenEnd(text.slice(start), ends));
        if (end > start) take(text.slice(start, end), out);
        return end > start || begun ? { at: end, next: state } : null;
      }
      const end = tags.padded && at > start && text[at - 1] === '\n' ? at - 1 : at;
      take(text.slice(start, end), out);
      out.push({ type: 'arguments', text: told ? '"' : typedValue(parts.join(''), schema, root) });
      return { at: at + tags.valueEnd.length, next: next() };
    },
    rest: () => '',
  };
  return state;
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
