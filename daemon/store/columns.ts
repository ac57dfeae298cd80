/** Longest JSON text of one column. */
const LONGEST_JSON = 64 * 1024;
const LONGEST_TEXT = 1024;

/** JSON for a column; never throws: what cannot be written or is too long becomes a note. */
export function toJson(value: unknown): string {
  try {
    const text = JSON.stringify(value) ?? 'null';
    return text.length <= LONGEST_JSON ? text : '{"omitted":"too long"}';
  } catch {
    return '{"omitted":"not JSON"}';
  }
}

/** The value of a JSON column; `fallback` for text that is no JSON. */
export function fromJson<T>(text: string | null, fallback: T): T {
  if (text === null) return fallback;
  try {
    return JSON.parse(text) as T;
  } catch {
    return fallback;
  }
}

/** Free text from outside, cut to what a log row keeps. */
export function clip(text: string | null | undefined): string | null {
  return text == null ? null : text.slice(0, LONGEST_TEXT);
}

/** A row count between 1 and `most`; anything that is no number counts as `most`. */
export function clampRows(asked: number, most: number): number {
  return Number.isFinite(asked) ? Math.min(Math.max(Math.trunc(asked), 1), most) : most;
}
