/** What may be shown now, and whether a stop string ended the text. */
export interface Scanned {
  text: string;
  stopped: boolean;
}

/** Cuts a stream of text pieces before the first stop string, also when it is spread over pieces. */
export interface StopScanner {
  push(piece: string): Scanned;
  /** The text held back, once no more comes. */
  end(): string;
  /** The stop string that ended the text; null before, and when none did. */
  readonly hit: string | null;
}

/** `stops` must not hold an empty string. Nothing that may still become a stop string is shown. */
export function stopScanner(stops: readonly string[]): StopScanner {
  let held = '';
  let found: string | null = null;
  return {
    get hit() {
      return found;
    },
    push(piece) {
      const text = held + piece;
      const hit = firstHit(text, stops);
      if (hit !== null) {
        held = '';
        found = hit.stop;
        return { text: text.slice(0, hit.at), stopped: true };
      }
      const keep = longestOpenEnd(text, stops);
      held = text.slice(text.length - keep);
      return { text: text.slice(0, text.length - keep), stopped: false };
    },
    end() {
      const rest = held;
      held = '';
      return rest;
    },
  };
}

function firstHit(text: string, stops: readonly string[]): { at: number; stop: string } | null {
  let first: { at: number; stop: string } | null = null;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at >= 0 && (first === null || at < first.at)) first = { at, stop };
  }
  return first;
}

/** Length of the longest end of `text` that is the beginning of one of `strings` but not the whole of it. */
export function longestOpenEnd(text: string, strings: readonly string[]): number {
  let longest = 0;
  for (const string of strings) {
    for (let length = Math.min(string.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(string.slice(0, length))) {
        longest = length;
        break;
      }
    }
  }
  return longest;
}
