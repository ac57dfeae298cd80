/** A JSON schema that the grammar of this engine cannot keep. */
export class SchemaFault extends Error {
  /** @param at Place in the schema, as `properties.age`; empty for the schema itself. */
  constructor(at: string, reason: string) {
    super(at === '' ? reason : `${at}: ${reason}`);
    this.name = 'SchemaFault';
  }
}

/** A schema, or a part of one, that no value fits; it costs only the alternative that it belongs to. */
export class ImpossibleSchema extends SchemaFault {}

/** What `make` makes; null when nothing fits there. */
export function unlessImpossible<T>(make: () => T): T | null {
  try {
    return make();
  } catch (error) {
    if (error instanceof ImpossibleSchema) return null;
    throw error;
  }
}
