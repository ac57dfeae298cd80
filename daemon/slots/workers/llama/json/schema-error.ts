/** Thrown for a JSON schema that a grammar cannot enforce. */
export class SchemaFault extends Error {
  /** @param at Path in the schema, such as `properties.age`; empty for the root. */
  constructor(at: string, reason: string) {
    super(at === '' ? reason : `${at}: ${reason}`);
    this.name = 'SchemaFault';
  }
}

/** Thrown for a schema that no value fits. It excludes only the alternative that contains it. */
export class ImpossibleSchema extends SchemaFault {}

/** Returns the result of `make`, or null when no value fits. */
export function unlessImpossible<T>(make: () => T): T | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof ImpossibleSchema) return null;
    throw error;
  }
}
