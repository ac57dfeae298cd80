export type Json = Record<string, unknown>;

export const asObject = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value of `text`; undefined when it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The arguments of a call as every engine reads them again, which is as text of a JSON object: no text stands for no
 * arguments. Undefined for any other text.
 */
export function callArguments(text: string): string | undefined {
  if (text.trim() === '') return '{}';
  return asObject(parsed(text)) ? text : undefined;
}
