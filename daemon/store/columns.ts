/** Maximum length of a JSON column. */
const MAX_JSON_LENGTH = 64 * 1024;
const MAX_TEXT_LENGTH = 1024;

/**
 * Returns JSON for a column. Never throws: a value that cannot be serialised or is too long is replaced by a
 * note.
 */
export function toJson(value: unknown): string {
  try {
    const text = JSON.stringify(value) ?? 'null';
    return text.length <= MAX_JSON_LENGTH ? text : '{"omitted":"too long"}';
  } catch {
    return '{"omitted":"not JSON"}';
  }
}

/** Parses a JSON column. Returns `fallback` for invalid JSON. */
export function fromJson<T>(text: string | null, fallback: T): T {
  if (text === null) return fallback;
  try {
    return JSON.parse(text) as T;
  } catch {
    return fallback;
  }
}

/** Truncates external text to the maximum of a log row. */
export function clip(text: string | null | undefined): string | null {
  return text == null ? null : text.slice(0, MAX_TEXT_LENGTH);
}

/** Returns a row count between 1 and `maxRows`. Anything but a finite number counts as `maxRows`. */
export function clampRows(requested: number, maxRows: number): number {
  return Number.isFinite(requested) ? Math.min(Math.max(Math.trunc(requested), 1), maxRows) : maxRows;
}
