/** A JSON schema that the grammar of this engine cannot keep. */
export class SchemaFault extends Error {
  /** @param at Place in the schema, as `properties.age`; empty for the schema itself. */
  constructor(at: string, reason: string) {
    super(at === '' ? reason : `${at}: ${reason}`);
    this.name = 'SchemaFault';
  }
}
