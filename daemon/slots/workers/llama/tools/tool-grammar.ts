import { Refusal } from '../../refusal.ts';
import { literal, RuleBook } from '../json/rule-book.ts';
import { SchemaFault } from '../json/schema-error.ts';
import { converter } from '../json/schema-grammar.ts';
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

/** The schema of an answer that may take the place of a call. */
export interface AnswerSchema {
  schema: unknown;
  strict: boolean;
}

/** Receives each keyword of a tool that a grammar does not enforce. */
export type Relax = (keyword: string) => void;

/**
 * Returns GBNF for calls of `tools` as plain JSON objects: one, or with `several` also a list. With `answer`,
 * text of that schema is accepted too. Schema keywords that a grammar cannot enforce are left to the model,
 * which reads them in the prompt.
 */
export function toolGrammar(
  tools: readonly Tool[],
  { argumentsKey, several }: CallForm,
  answer: AnswerSchema | null = null,
  relax: Relax = () => {},
): string {
  const book = new RuleBook();
  // First, because it is never replaced by any object.
  const text = answer === null ? [] : [answerRule(book, answer)];
  const ws = book.primitive('ws');
  const calls = tools.map((tool, i) =>
    book.set(
      `tool${i}`,
      `"{" ${ws} ${literal('"name"')} ":" ${ws} ${literal(JSON.stringify(tool.function.name))} "," ${ws} ` +
        `${literal(JSON.stringify(argumentsKey))} ":" ${ws} ${argumentsRule(book, tool, relax)} ${ws} "}"`,
    ),
  );
  const call = book.set('call', calls.join(' | '));
  const all = [...text, call];
  if (several) all.push(`"[" ${ws} ${call} ("," ${ws} ${call}){0,${MAX_CALLS - 1}} ${ws} "]"`);
  return book.grammar(all.join(' | '));
}

/** Returns the rule for an answer. Its relaxed keywords are those of the answer's own grammar. */
export function answerRule(book: RuleBook, { schema, strict }: AnswerSchema): string {
  return converter(book, { strict }).convert(schema, '', isSchema(schema) ? schema : {});
}

/**
 * Returns the rule for the arguments of a tool. A schema that a grammar cannot express gives any object, because
 * tools often come from servers that the caller does not control.
 */
export function argumentsRule(book: RuleBook, { function: { parameters } }: Tool, relax: Relax): string {
  const schema = argumentsSchema(parameters);
  try {
    return converter(book, { strict: false, relax }).convert(schema, '', schema);
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    relax('schema');
    return book.primitive('object');
  }
}

/**
 * Throws a 400 for a tool with `strict: true` whose parameters have a keyword that changes the meaning and that no
 * grammar enforces, or are broken.
 */
export function checkStrictTools(tools: readonly Tool[]): void {
  for (const [i, { function: called }] of tools.entries()) {
    if (called.strict !== true) continue;
    const schema = argumentsSchema(called.parameters);
    try {
      converter(new RuleBook(), { strict: true }).convert(schema, '', schema);
    } catch (error) {
      if (!(error instanceof SchemaFault)) throw error;
      const field = `tools.${i}.function.parameters`;
      throw new Refusal('request.invalid', `${field}: the JSON schema is not supported: ${error.message}`, {
        param: field,
      });
    }
  }
}

const argumentsSchema = (parameters: unknown): Schema =>
  isSchema(parameters) && Object.keys(parameters).length > 0 ? { type: 'object', ...parameters } : ANY_OBJECT;
