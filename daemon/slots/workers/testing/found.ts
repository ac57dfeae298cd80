import { expect } from 'vitest';
import type { CallScanner, ScannedPiece } from '../llama/tools/pieces.ts';
import { cuts } from './cuts.ts';

/** An output of a model and the expected result. */
export interface Output {
  raw: string;
  text?: string;
  reasoning?: string;
  /** Name and arguments of each call. */
  calls?: [string, string][];
  /** True: the last call is truncated. */
  cut?: boolean;
}

/** Returns what a scanner finds in an output that arrives in these pieces. */
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

/** Expects the same result for every split, and valid JSON for complete arguments. */
export function expectFound(make: () => CallScanner, output: Output): void {
  const { raw, text = '', reasoning = '', calls = [], cut = false } = output;
  for (const pieces of cuts(raw)) {
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
