/** The text to emit now, and whether a stop string ended it. */
export interface Scanned {
  text: string;
  stopped: boolean;
}

/** Cuts a text stream before the first stop string, also across pieces. */
export interface StopScanner {
  push(piece: string): Scanned;
  /** Returns the held-back text. Call this at the end of the stream. */
  end(): string;
  /** The stop string that ended the text. Null before that, and when none did. */
  readonly hit: string | null;
}

/** `stops` must not contain an empty string. Text that may become a stop string is held back. */
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

/** Returns the length of the longest suffix of `text` that is a proper prefix of one of `strings`. */
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
