import { z } from 'zod';
import { IgnoredNames } from '../../../contract/ignored.ts';
import { invalidField, unsupportedContent } from '../refusal.ts';
import { gbnfFault } from './gbnf-error.ts';
import { SchemaFault } from './json/schema-error.ts';
import { schemaGrammar } from './json/schema-grammar.ts';

/** What the text of an answer must match. */
export interface Structure {
  /** The schema of the JSON text. Null for a GBNF grammar. */
  schema: unknown;
  /** True: see {@link SchemaOptions.strict}. */
  strict: boolean;
  grammar: string;
  /** Keywords that the grammar does not enforce, as `FIELD.KEYWORD`. */
  relaxed: readonly string[];
  /** The request field that contains it. */
  param: string;
}

const MAX_GRAMMAR_CHARS = 65_536;

const responseFormat = z.discriminatedUnion(
  'type',
  [
    z.looseObject({ type: z.literal('text') }),
    z.looseObject({ type: z.literal('json_object'), schema: z.unknown().optional() }),
    z.looseObject({
      type: z.literal('json_schema'),
      json_schema: z.looseObject({ schema: z.unknown(), strict: z.boolean().nullish() }),
    }),
  ],
  { error: 'the type must be "text", "json_object" or "json_schema"' },
);

/** The request fields for structured output: OpenAI's, and llama-server's `json_schema` and `grammar`. */
export const structureFields = {
  response_format: responseFormat.nullish(),
  json_schema: z.unknown().optional(),
  grammar: z.string().max(MAX_GRAMMAR_CHARS).nullish(),
};

type StructureBody = z.infer<z.ZodObject<typeof structureFields>>;

const ANY_OBJECT = { type: 'object' };

/**
 * Returns the requested structure, or null for free text. Throws a 400 that names the field and the
 * unsupported part.
 */
export function structure(body: StructureBody): Structure | null {
  const candidates = [
    formatStructure(body.response_format),
    schemaStructure(body.json_schema),
    gbnf(body.grammar),
  ];
  const present = candidates.filter((one) => one !== null);
  if (present.length > 1) {
    const param = present[1]?.param ?? '';
    throw invalidField(
      param,
      `${param}: conflicts with ${present[0]?.param}: a response can have only one structure`,
    );
  }
  return present[0] ?? null;
}

function formatStructure(format: StructureBody['response_format']): Structure | null {
  if (format == null || format.type === 'text') return null;
  const param = 'response_format';
  if (format.type === 'json_object') return ofSchema(format.schema ?? ANY_OBJECT, param, false);
  return ofSchema(format.json_schema.schema, param, format.json_schema.strict === true);
}

function schemaStructure(schema: unknown): Structure | null {
  if (schema === undefined || schema === null) return null;
  return ofSchema(schema, 'json_schema', false);
}

function gbnf(grammar: string | null | undefined): Structure | null {
  if (grammar === undefined || grammar === null || grammar.trim() === '') return null;
  const fault = gbnfFault(grammar);
  if (fault !== null) throw invalidField('grammar', `grammar: ${fault}`);
  return { schema: null, strict: false, grammar, relaxed: [], param: 'grammar' };
}

function ofSchema(schema: unknown, param: string, strict: boolean): Structure {
  const relaxed = new IgnoredNames();
  try {
    const relax = (keyword: string): void => relaxed.add(`${param}.${keyword}`);
    const grammar = schemaGrammar(schema, { strict, relax });
    return { schema, strict, grammar, relaxed: relaxed.names, param };
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    throw unsupportedContent(param, `${param}: the JSON schema is not supported: ${error.message}`);
  }
}
