import type { Schema } from '../json/schema-shape.ts';
import type { ScannedPiece } from './pieces.ts';
import type { State } from './scanner.ts';
import { isText, typedValue } from './typed-value.ts';
import type { FindEnd } from './value-end.ts';

/**
 * Reads a value between tags. A string is emitted while it arrives, any other value when complete. `padded`:
 * one line break at each end is not part of the value.
 */
export function valueReader(
  padded: boolean,
  findEnd: FindEnd,
  { schema, root }: { schema: unknown; root: Schema },
  next: () => State,
): State {
  const streams = isText(schema, root);
  const parts: string[] = [];
  let started = false;
  const take = (text: string, out: ScannedPiece[]): void => {
    if (!streams) parts.push(text);
    else if (text !== '' || !started)
      out.push({ type: 'arguments', text: `${started ? '' : '"'}${escaped(text)}` });
    started = true;
  };
  const close = (): ScannedPiece => ({
    type: 'arguments',
    text: streams ? '"' : typedValue(parts.join(''), schema, root),
  });
  const state: State = {
    step(text, from, out) {
      let start = from;
      if (!started && padded) {
        if (start >= text.length) return null;
        if (text[start] === '\n' && findEnd(text, start, started)?.at !== start) start += 1;
      }
      const end = findEnd(text, start, started);
      const until = end === null ? text.length : end.at;
      const shown = end?.length !== undefined && padded && text[until - 1] === '\n' ? until - 1 : until;
      if (end?.length === undefined) {
        if (until > start) take(text.slice(start, until), out);
        return until > start || started ? { at: until, next: state } : null;
      }
      take(text.slice(start, Math.max(start, shown)), out);
      out.push(close());
      return { at: until + end.length, next: next() };
    },
    flush(unread) {
      if (!started || !padded || !/^\n?<\/function>\s*$/.test(unread)) return '';
      return [close(), { type: 'arguments', text: '}' }, { type: 'callEnd' }];
    },
  };
  return state;
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);
