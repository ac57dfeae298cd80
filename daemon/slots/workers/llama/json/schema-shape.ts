/** A JSON schema that is an object of keywords. */
export type Schema = Readonly<Record<string, unknown>>;

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a path inside a schema, such as `properties.age`. */
export const joinPath = (at: string, next: string): string => (at === '' ? next : `${at}.${next}`);
