import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stopScanner } from './stop-scanner.ts';

function run(pieces: readonly string[], stops: readonly string[]): { text: string; stopped: boolean } {
  const scanner = stopScanner(stops);
  let text = '';
  for (const piece of pieces) {
    const scanned = scanner.push(piece);
    text += scanned.text;
    if (scanned.stopped) return { text, stopped: true };
  }
  return { text: text + scanner.end(), stopped: false };
}

test('cuts before a stop string inside one piece', () => {
  expect(run(['hello END more'], ['END'])).toEqual({ text: 'hello ', stopped: true });
});

test('finds a stop string across pieces and emits no part of it', () => {
  expect(run(['a', '<', '/', 's', '>', 'b'], ['</s>'])).toEqual({ text: 'a', stopped: true });
});

test('emits a prefix that turns out to be no stop string', () => {
  expect(run(['a</', 'b'], ['</s>'])).toEqual({ text: 'a</b', stopped: false });
  expect(run(['a</'], ['</s>'])).toEqual({ text: 'a</', stopped: false });
});

test('uses the earliest of several stop strings', () => {
  expect(run(['one two three'], ['three', 'two'])).toEqual({ text: 'one ', stopped: true });
});

test('finds a stop string that restarts within itself', () => {
  expect(run(['a', 'a', 'a', 'b'], ['aab'])).toEqual({ text: 'a', stopped: true });
});

test('gives the same result for any split', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 0, maxLength: 4 });
  const stop = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), fc.array(stop, { maxLength: 3 }), (pieces, stops) => {
      const whole = pieces.join('');
      const at = stops.map((s) => whole.indexOf(s)).filter((i) => i >= 0);
      const result = run(pieces, stops);
      if (at.length === 0) expect(result).toEqual({ text: whole, stopped: false });
      // A stop string that completes in an earlier piece wins over one that starts earlier and ends later.
      else {
        expect(result.stopped).toBe(true);
        expect(whole.startsWith(result.text)).toBe(true);
        expect(stops.some((s) => result.text.includes(s))).toBe(false);
        expect(stops.some((s) => whole.slice(result.text.length).startsWith(s))).toBe(true);
      }
    }),
  );
});

test('reports the stop string that occurred first in the text', () => {
  const scanner = stopScanner(['later', 'EN', 'END']);
  scanner.push('to the E');
  expect(scanner.hit).toBeNull();
  scanner.push('ND and later');
  expect(scanner.hit).toBe('EN');
});
