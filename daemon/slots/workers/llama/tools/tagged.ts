import { isSchema, type Schema } from '../json/schema-shape.ts';
import { longestOpenEnd } from '../stop-scanner.ts';
import type { CallScanner, ScannedPiece } from './pieces.ts';
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
import { typedValue } from './typed-value.ts';
import { exactEnd, looseEnd } from './value-end.ts';
import { valueReader } from './value-reader.ts';

/** The tags of models that write each argument as text between tags. */
export interface Tags {
  /** Tags around a call, when `open` does not start it. */
  wrap: readonly [string, string] | null;
  /** Precedes the name, which ends at `nameEnd`. */
  open: string;
  nameEnd: RegExp;
  /** Tags before and after the name of an argument. */
  key: readonly [string, string];
  /** Precedes the value. Null when the value follows directly. */
  value: string | null;
  valueEnd: string;
  close: string;
  /** True: one line break at each end of a value is not part of it. */
  padded: boolean;
}

const MAX_NAME_CHARS = 256;
/** An argument with name and value in one tag: `<parameter=command=create</parameter>`. */
const GLUED = /^([^=\s<>]+)=([^<>]*)<\/parameter$/;

/** State of the current call. */
interface Call {
  schema: Schema;
  /** Names of the arguments emitted so far. */
  names: Set<string>;
}

/** Reads text, then calls with the given tags. Values are typed by the schemas of the offered tools. */
export const taggedCalls = (tags: Tags, accepts: Accepts, schemaOf: SchemaOf): CallScanner =>
  scanner(taggedText(tags, accepts, schemaOf));

/** The same as a state that continues after another one. */
export function taggedText(tags: Tags, accepts: Accepts, schemaOf: SchemaOf): State {
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
    flush: (unread) => wrap + unread,
  });
  const name = (before: string): State => ({
    step(text, from, out) {
      const length = text.slice(from).search(tags.nameEnd);
      if (length < 0 && text.length - from <= MAX_NAME_CHARS) return null;
      const called = length < 0 ? null : asName(text.slice(from, from + length));
      if (called === null || !accepts(called)) {
        out.push({ type: 'text', text: before });
        return { at: from, next: outside() };
      }
      out.push({ type: 'call', name: called });
      const known = schemaOf(called);
      const skip = text[from + length] === '>' ? 1 : 0;
      return {
        at: from + length + skip,
        next: between({ schema: isSchema(known) ? known : {}, names: new Set() }),
      };
    },
    flush: (unread) => before + unread,
  });
  /** Before an argument or the end of the call. */
  const between = (call: Call): State => {
    const state: State = {
      step(text, from, out) {
        const at = afterSpace(text, from);
        if (at >= text.length) return { at, next: state };
        if (call.names.size === 0 && text[at] === '{') return { at, next: argumentValue(() => closing()) };
        const mark = markAt(text, [tags.key[0], tags.close], at);
        if (mark === 'open') return { at, next: state };
        if (mark === tags.key[0]) return { at: at + mark.length, next: key(call) };
        out.push(...ended(call));
        return { at: mark === null ? at : at + mark.length, next: unwrapped() };
      },
      flush: () => '',
    };
    return state;
  };
  const key = (call: Call): State => ({
    step(text, from, out) {
      const end = text.indexOf(tags.key[1], from);
      if (end < 0 && text.length - from <= MAX_NAME_CHARS) return null;
      if (end < 0) {
        out.push(...ended(call));
        return { at: text.length, next: unwrapped() };
      }
      const whole = tags.value === null ? GLUED.exec(text.slice(from, end)) : null;
      const named = (whole?.[1] ?? text.slice(from, end)).trim();
      const properties = isSchema(call.schema.properties) ? call.schema.properties : {};
      const schema = Object.hasOwn(properties, named) ? properties[named] : undefined;
      out.push({ type: 'arguments', text: `${call.names.size === 0 ? '{' : ','}${JSON.stringify(named)}:` });
      call.names.add(named);
      const next = end + tags.key[1].length;
      if (whole !== null) {
        out.push({ type: 'arguments', text: typedValue(whole[2] as string, schema, call.schema) });
        return { at: next, next: between(call) };
      }
      const known = Object.keys(properties).filter((name) => !call.names.has(name));
      const ends = tags.padded ? looseEnd(new Set(known)) : exactEnd(tags.valueEnd);
      const reader = valueReader(tags.padded, ends, { schema, root: call.schema }, () => between(call));
      return { at: next, next: tags.value === null ? reader : opened(tags.value, reader) };
    },
    flush: () => '',
  });
  /** After arguments that were written as JSON. */
  const closing = (): State => skipped([tags.close, `"${tags.close}`], unwrapped);
  const unwrapped = (): State => (tags.wrap === null ? outside() : skipped([unwrap], outside));
  return outside();
}

const ended = ({ names }: Call): ScannedPiece[] => [
  { type: 'arguments', text: names.size === 0 ? '{}' : '}' },
  { type: 'callEnd' },
];

/** Skips whitespace and one of `marks`, if present. */
function skipped(marks: readonly string[], next: () => State): State {
  const state: State = {
    step(text, from) {
      const at = afterSpace(text, from);
      const mark = at >= text.length ? 'open' : markAt(text, marks, at);
      if (mark === 'open') return { at, next: state };
      return { at: mark === null ? at : at + mark.length, next: next() };
    },
    flush: () => '',
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
    flush: () => '',
  };
  return state;
}
