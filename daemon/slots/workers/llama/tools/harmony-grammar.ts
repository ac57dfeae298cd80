import { literal, RuleBook } from '../json/rule-book.ts';
import { converter } from '../json/schema-grammar.ts';
import { isSchema } from '../json/schema-shape.ts';
import type { Tool } from './tool-choice.ts';
import { parametersRule } from './tool-grammar.ts';

/** Any text without the start of a mark. */
const WORDS = '([^<] | "<"+ [^|<])*';
const THOUGHTS = `"<|channel|>analysis<|message|>" ${WORDS} "<|end|><|start|>assistant"`;

/**
 * Returns GBNF for an answer in the harmony format: optional reasoning, then one call of one of `tools` or,
 * with `answer`, a final message of that schema. Control tokens appear as their texts, as llama.cpp's
 * grammars see them.
 */
export function harmonyGrammar(tools: readonly Tool[], answer: { schema: unknown } | null = null): string {
  const book = new RuleBook();
  const { convert } = converter(book, { strict: false });
  const calls = tools.map(({ function: { name, parameters } }) =>
    book.add(
      `${literal(`<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>`)} ${parametersRule(convert, parameters)}`,
    ),
  );
  if (answer !== null) {
    const root = isSchema(answer.schema) ? answer.schema : {};
    const final = converter(book, { strict: true }).convert(answer.schema, '', root);
    calls.unshift(book.add(`"<|channel|>final<|message|>" ${final}`));
  }
  return book.grammar(`(${THOUGHTS})? (${calls.join(' | ')})`);
}
