import { expect } from 'vitest';
import type { CallScanner, ScannedPiece } from '../llama/tools/pieces.ts';
import { cuts } from './cuts.ts';

/** An answer as a model writes it, and what is to be found in it. */
export interface Output {
  said: string;
  text?: string;
  reasoning?: string;
  /** Name and arguments of each call. */
  calls?: [string, string][];
  /** The last call was cut off: it has no end. */
  cut?: boolean;
}

/** What a scanner finds in an answer that comes in these pieces. */
export function read(scanner: CallScanner, pieces: readonly string[]) {
  const found: ScannedPiece[] = [...pieces.flatMap((piece) => scanner.push(piece)), ...scanner.end()];
  const calls: [string, string][] = [];
  const ids: (string | undefined)[] = [];
  let text = '';
  let reasoning = '';
  for (const one of found) {
    if (one.type === 'text') text += one.text;
    if (one.type === 'reasoning') reasoning += one.text;
    if (one.type === 'call') {
      calls.push([one.name, '']);
      ids.push(one.id);
    }
    const last = calls.at(-1);
    if (one.type === 'arguments' && last !== undefined) last[1] += one.text;
  }
  return { text, reasoning, calls, ids, ended: found.filter((one) => one.type === 'callEnd').length };
}

/** The same is found wherever the answer is cut, and arguments that have an end are JSON. */
export function expectFound(make: () => CallScanner, output: Output): void {
  const { said, text = '', reasoning = '', calls = [], cut = false } = output;
  for (const pieces of cuts(said)) {
    const { ids: _, ...found } = read(make(), pieces);
    expect(found, JSON.stringify(pieces)).toEqual({
      text,
      reasoning,
      calls,
      ended: calls.length - (cut ? 1 : 0),
    });
  }
  for (const [, args] of cut ? calls.slice(0, -1) : calls) expect(JSON.parse(args)).toBeTypeOf('object');
}
