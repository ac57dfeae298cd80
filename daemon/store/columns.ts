/** Longest JSON text of one column. */
const MAX_JSON_LENGTH = 64 * 1024;
const MAX_TEXT_LENGTH = 1024;

/** JSON for a column; never throws: what cannot be written or is too long becomes a note. */
export function toJson(value: unknown): string {
  try {
    const text = JSON.stringify(value) ?? 'null';
    return text.length <= MAX_JSON_LENGTH ? text : '{"omitted":"too long"}';
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
  return text == null ? null : text.slice(0, MAX_TEXT_LENGTH);
}

/** A row count between 1 and `most`; anything that is no number counts as `most`. */
export function clampRows(requested: number, maxRows: number): number {
  return Number.isFinite(requested) ? Math.min(Math.max(Math.trunc(requested), 1), maxRows) : maxRows;
}
