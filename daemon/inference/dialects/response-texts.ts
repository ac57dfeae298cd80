import { asList, asObject, type Json } from './json.ts';
import type { TextKind, ThoughtField } from './piece.ts';

/** One text of a response. */
export interface AnswerText {
  readonly type: TextKind;
  readonly text: string;
  /** The field that contained the reasoning, unless it was a content part. */
  readonly field?: ThoughtField;
}

/**
 * Returns the non-empty texts of a message or delta in output order. Reasoning is in `reasoning_content`, in
 * `reasoning` (vLLM, OpenRouter), or among the content parts (Mistral).
 */
export function answerTexts(message: Json): AnswerText[] {
  return [
    ...thoughtsOf(message),
    ...(Array.isArray(message.content) ? message.content.flatMap(partText) : textOf('text', message.content)),
    ...textOf('refusal', message.refusal),
  ];
}

const textOf = (type: TextKind, text: unknown): AnswerText[] =>
  typeof text === 'string' && text !== '' ? [{ type, text }] : [];

function thoughtsOf(message: Json): AnswerText[] {
  const field = message.reasoning_content ? 'reasoning_content' : 'reasoning';
  const text = message[field];
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
