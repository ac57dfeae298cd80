export type Json = Record<string, unknown>;

export const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Parses `text`; undefined for invalid JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Returns the arguments of a call as JSON text of an object, which every engine accepts. Empty text means no
 * arguments. Returns undefined for any other text.
 */
export function callArguments(text: string): string | undefined {
  if (text.trim() === '') return '{}';
  return asObject(parsed(text)) ? text : undefined;
}
