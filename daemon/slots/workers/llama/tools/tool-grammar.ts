import type { Conversion } from '../json/conversion.ts';
import { literal, RuleBook } from '../json/rule-book.ts';
import { SchemaFault } from '../json/schema-error.ts';
import { converter, schemaGrammar } from '../json/schema-grammar.ts';
import { isSchema, type Schema } from '../json/schema-shape.ts';
import type { Tool } from './tool-choice.ts';

const ANY_OBJECT: Schema = { type: 'object' };
/** Maximum number of calls in a list. */
const MAX_CALLS = 16;

/** How calls are written as plain JSON. */
export interface CallForm {
  argumentsKey: string;
  /** True: also accepts a list of calls. */
  several: boolean;
}

/**
 * Returns GBNF for calls of `tools` as plain JSON objects: one, or with `several` also a list. With `answer`,
 * text of that schema is accepted too. Schema keywords that a grammar cannot enforce are left to the model,
 * which reads them in the prompt.
 */
export function toolGrammar(
  tools: readonly Tool[],
  { argumentsKey, several }: CallForm,
  answer: { schema: unknown } | null = null,
): string {
  const book = new RuleBook();
  const { convert } = converter(book, { strict: false });
  const ws = book.primitive('ws');
  const calls = tools.map(({ function: { name, parameters } }) =>
    book.add(
      `"{" ${ws} ${literal('"name"')} ":" ${ws} ${literal(JSON.stringify(name))} "," ${ws} ` +
        `${literal(JSON.stringify(argumentsKey))} ":" ${ws} ${parametersRule(convert, parameters)} ${ws} "}"`,
    ),
  );
  const call = book.add(calls.join(' | '));
  const all = [call];
  if (several) all.push(book.add(`"[" ${ws} ${call} ("," ${ws} ${call}){0,${MAX_CALLS - 1}} ${ws} "]"`));
  if (answer !== null) {
    const root = isSchema(answer.schema) ? answer.schema : {};
    all.unshift(converter(book, { strict: true }).convert(answer.schema, '', root));
  }
  return book.grammar(all.join(' | '));
}

/** Returns the rule for the arguments of a tool. */
export function parametersRule(convert: Conversion['convert'], parameters: unknown): string {
  const schema = keepable(parameters);
  return convert(schema, '', schema);
}

/** Returns the parameters, or any object when they cannot be converted to a grammar. */
function keepable(parameters: unknown): Schema {
  if (!isSchema(parameters) || Object.keys(parameters).length === 0) return ANY_OBJECT;
  try {
    schemaGrammar(parameters, { strict: false });
    return { type: 'object', ...parameters };
  } catch (error) {
    if (error instanceof SchemaFault) return ANY_OBJECT;
    throw error;
  }
}
