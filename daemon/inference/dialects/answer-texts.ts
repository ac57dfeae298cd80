import { asList, asObject, type Json } from './json.ts';
import type { TextKind, ThoughtField } from './piece.ts';

/** One text of an answer. */
export interface AnswerText {
  readonly type: TextKind;
  readonly text: string;
  /** Where thoughts stood, unless among the parts of the content. */
  readonly field?: ThoughtField;
}

/**
 * The texts of a message, or of a delta, in the order in which they are to be told; empty ones say nothing. Thoughts
 * stand in `reasoning_content`, in vLLM's and OpenRouter's `reasoning`, or among the parts of the content, as Mistral's.
 */
export function answerTexts(said: Json): AnswerText[] {
  return [
    ...thoughtsOf(said),
    ...(Array.isArray(said.content) ? said.content.flatMap(partText) : textOf('text', said.content)),
    ...textOf('refusal', said.refusal),
  ];
}

const textOf = (type: TextKind, text: unknown): AnswerText[] =>
  typeof text === 'string' && text !== '' ? [{ type, text }] : [];

function thoughtsOf(said: Json): AnswerText[] {
  const field = said.reasoning_content ? 'reasoning_content' : 'reasoning';
  const text = said[field];
  return typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text, field }] : [];
}

function partText(value: unknown): AnswerText[] {
  const part = asObject(value);
  if (part?.type === 'text') return textOf('text', part.text);
  if (part?.type === 'refusal') return textOf('refusal', part.refusal);
  if (part?.type !== 'thinking') return [];
  if (!Array.isArray(part.thinking)) return textOf('reasoning', part.thinking);
  return asList(part.thinking).flatMap((thought) => textOf('reasoning', asObject(thought)?.text));
}
