import { longestOpenEnd } from '../stop-scanner.ts';
import { jsonValue } from './json-value.ts';
import type { CallScanner, ScannedPiece } from './pieces.ts';
import {
  type Accepts,
  afterSpace,
  firstMark,
  markAt,
  type SchemaOf,
  type State,
  scanner,
} from './scanner.ts';
import { asName } from './sectioned.ts';

const START = '<|start|>';
const CHANNEL = '<|channel|>';
const MESSAGE = '<|message|>';
const END = '<|end|>';
const CALL = '<|call|>';
const RETURN = '<|return|>';

export const HARMONY_MARKS: readonly string[] = [START, CHANNEL, MESSAGE, END, CALL, RETURN, '<|constrain|>'];

/** The header of an answer's text. */
export const HARMONY_FINAL = `${CHANNEL}final${MESSAGE}`;

/** Marks that end the content of a message other than its own end: the start of the next one. */
const CONTENT_ENDS = [END, CALL, RETURN, START, CHANNEL];
const HEADER_BEGINS = [CHANNEL, START, MESSAGE, 'to='];
const HEADER_ENDS = [MESSAGE, END, CALL, RETURN, START];
const MAX_HEADER_CHARS = 512;
const FUNCTIONS = 'functions.';

/** The type of a message: reasoning, content or a function call. */
type Kind = { type: 'reasoning' | 'text' } | { type: 'call'; name: string };

export interface HarmonyOptions {
  /** True: reasoning stays in the text, with its marks. */
  raw: boolean;
  /** The part of the first header that the prompt contains. */
  header: string;
}

/**
 * Parses gpt-oss answers: a series of messages with headers (the harmony format). Channel `analysis` holds
 * reasoning, a recipient `functions.NAME` marks a call, everything else is content. An answer without a
 * header is content.
 */
export function harmonyMessages(
  { raw, header: opened }: HarmonyOptions,
  accepts: Accepts,
  schemaOf: SchemaOf,
): CallScanner {
  const written = { reasoning: false, text: false };
  const kindOf = (header: string): Kind => {
    const recipients = [...header.matchAll(/\bto=([^\s<]+)/g)].map(([, to]) => to as string);
    const recipient = recipients.find((to) => to.startsWith(FUNCTIONS)) ?? recipients.at(-1) ?? '';
    const name = asName(recipient.startsWith(FUNCTIONS) ? recipient.slice(FUNCTIONS.length) : recipient);
    const called = name !== null && (recipient.startsWith(FUNCTIONS) || schemaOf(name) !== undefined);
    if (called && accepts(name)) return { type: 'call', name };
    const channel = [...header.matchAll(/<\|channel\|>\s*([a-z]+)/gi)].at(-1)?.[1];
    return { type: channel === 'analysis' && !raw ? 'reasoning' : 'text' };
  };
  const begin = (header: string, out: ScannedPiece[]): State => {
    const kind = kindOf(header);
    if (kind.type === 'call') {
      out.push({ type: 'call', name: kind.name });
      return callArguments(between);
    }
    const thinks = raw && /<\|channel\|>\s*analysis/.test(header);
    if (thinks) out.push({ type: 'text', text: `${CHANNEL}analysis${MESSAGE}` });
    return content(kind.type, thinks);
  };
  /** Content or reasoning. A second message of the same type is separated from the first. */
  const content = (type: 'reasoning' | 'text', closes = false): State => {
    let started = false;
    const write = (text: string, out: ScannedPiece[]): void => {
      if (text === '') return;
      if (!started && written[type]) out.push({ type, text: type === 'text' ? '\n\n' : '\n' });
      started = true;
      written[type] = true;
      out.push({ type, text });
    };
    const state: State = {
      step(text, from, out) {
        const hit = firstMark(text, CONTENT_ENDS, from);
        const end = hit === null ? text.length - longestOpenEnd(text.slice(from), CONTENT_ENDS) : hit.at;
        write(text.slice(from, end), out);
        if (hit === null) return { at: end, next: state };
        if (closes) out.push({ type: 'text', text: END });
        const startsMessage = hit.mark === START || hit.mark === CHANNEL;
        return { at: startsMessage ? hit.at : hit.at + hit.mark.length, next: between() };
      },
      flush: (unread) => (unread === '' ? '' : [{ type, text: unread }]),
    };
    return state;
  };
  /** Before a header or, without one, text. */
  const between = (): State => {
    const state: State = {
      step(text, from) {
        const at = afterSpace(text, from);
        if (at >= text.length) return null;
        const mark = markAt(text, [...HEADER_BEGINS, END, CALL, RETURN], at);
        if (mark === 'open') return null;
        if (mark === END || mark === CALL || mark === RETURN) return { at: at + mark.length, next: state };
        return mark === null ? { at: from, next: content('text') } : { at, next: header('') };
      },
      flush: (unread) => unread,
    };
    return state;
  };
  /** Reads up to the content. A malformed header is dropped; unterminated text is emitted. */
  const header = (before: string): State => ({
    step(text, from, out) {
      const hit = firstMark(text, HEADER_ENDS, text.startsWith(START, from) ? from + START.length : from);
      const length = (hit?.at ?? text.length - MESSAGE.length) - from;
      if (length > MAX_HEADER_CHARS)
        return { at: from + leadingMarks(text.slice(from)).length, next: content('text') };
      if (hit === null) return null;
      if (hit.mark === MESSAGE)
        return { at: hit.at + MESSAGE.length, next: begin(before + text.slice(from, hit.at), out) };
      if (hit.mark === START) return { at: hit.at, next: header('') };
      return { at: hit.at + hit.mark.length, next: between() };
    },
    flush: (unread) => (isBareHeader(unread) ? unread.slice(leadingMarks(unread).length) : ''),
  });
  return scanner(opened === '' ? between() : continued(opened, header, begin));
}

/** Returns the marks (and the role) that `header` starts with. */
const leadingMarks = (header: string): string =>
  /^(<\|start\|>(assistant)?|<\|channel\|>)*/.exec(header)?.[0] ?? '';

/** True for text that starts like a header but contains none of its fields. */
const isBareHeader = (header: string): boolean =>
  header.startsWith(CHANNEL) && !/\bto=|^(<\|channel\|>)+\s*(analysis|commentary|final|[a-z]*$)/.test(header);

/** Returns the state in which the prompt leaves the first message. */
function continued(
  opened: string,
  header: (before: string) => State,
  begin: (header: string, out: ScannedPiece[]) => State,
): State {
  return opened.endsWith(MESSAGE) ? begin(opened.slice(0, -MESSAGE.length), []) : header(opened);
}

/** Reads arguments up to the end of the message. Anything that is no JSON object is emitted unchanged. */
function callArguments(next: () => State): State {
  const value = jsonValue();
  let place: 'start' | 'json' | 'bare' | 'over' = 'start';
  const ended = (out: ScannedPiece[]): void => {
    if (place === 'over') return;
    if (place === 'start') out.push({ type: 'arguments', text: '{}' });
    out.push({ type: 'callEnd' });
  };
  const state: State = {
    step(text, from, out) {
      const start = place === 'start' ? afterSpace(text, from) : from;
      if (start >= text.length) return { at: start, next: state };
      if (place === 'start' && text[start] === '{') place = 'json';
      if (place === 'json') {
        const { out: output, end } = value.push(text, start);
        if (output !== '') out.push({ type: 'arguments', text: output });
        if (end < 0) return { at: text.length, next: state };
        out.push({ type: 'callEnd' });
        place = 'over';
        return { at: end, next: state };
      }
      const hit = firstMark(text, CONTENT_ENDS, start);
      const end = hit === null ? text.length - longestOpenEnd(text.slice(start), CONTENT_ENDS) : hit.at;
      if (end > start && place !== 'over') {
        place = 'bare';
        out.push({ type: 'arguments', text: text.slice(start, end) });
      }
      if (hit === null) return { at: end, next: state };
      ended(out);
      return { at: hit.at, next: next() };
    },
    flush: () => '',
  };
  return state;
}

/** Returns the part of the answer's header in the prompt: the text after the last `<|start|>assistant`. */
export function openedHeader(prompt: string): string {
  const at = prompt.lastIndexOf(`${START}assistant`);
  return at < 0 ? '' : prompt.slice(at + START.length + 'assistant'.length).trim();
}
