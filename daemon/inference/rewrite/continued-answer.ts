import { asList, asObject, parsed } from '../dialects/json.ts';
import type { BodyRule } from './body-rule.ts';
import { insertField, NO_EDITS } from './edits.ts';

/** With one of these, the caller decided how the answer begins. */
const OWN_CHOICE = ['continue_final_message', 'add_generation_prompt'] as const;

/**
 * Requests that vLLM continues a text of the assistant at the end of the chat, which it would otherwise answer
 * (docs/spec/contract.md#prefill). A response format or a required call describes a whole answer.
 */
export const continuedAnswer: BodyRule = ({ index, continuesOnRequest }) => {
  if (continuesOnRequest !== true || index.messages.length < 2) return NO_EDITS;
  if (index.messages.at(-1)?.role !== 'assistant') return NO_EDITS;
  const body = asObject(parsed(index.bytes.toString('utf8')));
  const last = asObject(asList(body?.messages).at(-1));
  const isText = typeof last?.content === 'string' && last.content !== '';
  if (body === undefined || !isText || asList(last.tool_calls).length > 0) return NO_EDITS;
  if (OWN_CHOICE.some((name) => name in body)) return NO_EDITS;
  const format = asObject(body.response_format)?.type ?? 'text';
  const isForced = body.tool_choice === 'required' || asObject(body.tool_choice) !== undefined;
  if (format !== 'text' || isForced) return NO_EDITS;
  return [insertField('continue_final_message', true), insertField('add_generation_prompt', false)];
};
