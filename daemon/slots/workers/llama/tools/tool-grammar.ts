import { literal, RuleBook } from '../json/rule-book.ts';
import { SchemaFault } from '../json/schema-fault.ts';
import { converter, isSchema, type Schema, schemaGrammar } from '../json/schema-grammar.ts';
import type { Tool } from './tool-choice.ts';

const ANY_OBJECT: Schema = { type: 'object' };

/**
 * GBNF for one call of one of `tools` as a plain JSON object; with `answer`, a text of that schema fits as well. What a
 * grammar cannot keep of a tool's parameters is left to the model, which reads it in the prompt.
 */
export function toolGrammar(
  tools: readonly Tool[],
  argumentsKey: string,
  answer: { schema: unknown } | null = null,
): string {
  const book = new RuleBook();
  const { convert } = converter(book, { strict: false });
  const ws = book.primitive('ws');
  const all = tools.map(({ function: { name, parameters } }) => {
    const schema = keepable(parameters);
    const values = convert(schema, '', schema);
    return book.add(
      `"{" ${ws} ${literal('"name"')} ":" ${ws} ${literal(JSON.stringify(name))} "," ${ws} ` +
        `${literal(JSON.stringify(argumentsKey))} ":" ${ws} ${values} ${ws} "}"`,
    );
  });
  if (answer !== null) {
    const root = isSchema(answer.schema) ? answer.schema : {};
    all.unshift(converter(book, { strict: true }).convert(answer.schema, '', root));
  }
  return book.grammar(all.join(' | '));
}

/** The parameters, or any object when no grammar can be made of them. */
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
