import { literal, RuleBook } from '../json/rule-book.ts';
import type { Tool } from './tool-choice.ts';
import { type AnswerSchema, answerRule, argumentsRule, type Relax } from './tool-grammar.ts';

/** Any text without the start of a mark. */
const WORDS = '([^<] | "<"+ [^|<])*';
const THOUGHTS = `"<|channel|>analysis<|message|>" ${WORDS} "<|end|><|start|>assistant"`;

/**
 * Returns GBNF for an answer in the harmony format: optional reasoning, then one call of one of `tools` or,
 * with `answer`, a final message of that schema. Control tokens appear as their texts, as llama.cpp's
 * grammars see them.
 */
export function harmonyGrammar(
  tools: readonly Tool[],
  answer: AnswerSchema | null = null,
  relax: Relax = () => {},
): string {
  const book = new RuleBook();
  const final = answer === null ? [] : [`"<|channel|>final<|message|>" ${answerRule(book, answer)}`];
  const calls = tools.map((tool, i) => {
    const header = `<|channel|>commentary to=functions.${tool.function.name} <|constrain|>json<|message|>`;
    return book.set(`tool${i}`, `${literal(header)} ${argumentsRule(book, tool, relax)}`);
  });
  return book.grammar(`(${THOUGHTS})? (${[...final, ...calls].join(' | ')})`);
}
