import { z } from 'zod';
import type { SamplingDefaults } from '../../../models/sampling-defaults.ts';
import { invalidField } from '../refusal.ts';
import { type ChatMessage, chatMessage, messageField, withToolCalls } from './chat-message.ts';
import { type AnswerRequest, answerFields, answerRequest, parseBody } from './request.ts';
import { type Structure, structure } from './structure.ts';
import {
  callStyle,
  declaredPath,
  declaredToolFields,
  describedGrammars,
  withFunctions,
} from './tools/declared-tools.ts';
import type { CallStyle } from './tools/pieces.ts';
import { readTools, type Tool, type Tools } from './tools/tool-choice.ts';
import { checkStrictTools } from './tools/tool-grammar.ts';

export interface ChatRequest extends AnswerRequest {
  messages: ChatMessage[];
  /** Null when no tool is offered or `tool_choice` is `none`. */
  tools: Tools | null;
  callStyle: CallStyle;
  structure: Structure | null;
  /** Fields that are described to the model and not enforced. */
  described: readonly string[];
  /** False leaves reasoning in the text, like llama-server's `reasoning_format: "none"`. */
  splitThoughts: boolean;
  /** Additional template variables such as `enable_thinking`. */
  templateArguments: Record<string, unknown>;
}

const MAX_TOP_LOGPROBS = 20;

const body = z.looseObject({
  ...answerFields,
  ...declaredToolFields,
  messages: z.array(messageField, { error: 'must be an array of messages' }).min(1),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).max(MAX_TOP_LOGPROBS).nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  enable_thinking: z.boolean().nullish(),
  reasoning_effort: z.string().nullish(),
  reasoning_format: z.enum(['auto', 'none', 'deepseek']).nullish(),
});

/**
 * Parses the body of `POST /v1/chat/completions`. `defaults` are those of the model file. Throws a 400 that names the
 * invalid field.
 */
export function chatRequest(input: unknown, defaults: SamplingDefaults = {}): ChatRequest {
  const parsed = withFunctions(parseBody(body, input, (path) => declaredPath(input, path)));
  const tools = readTools(parsed);
  checkStrictTools((parsed.tools ?? []) as Tool[]);
  const requested = structure(parsed);
  if (requested?.param === 'grammar' && tools !== null)
    throw invalidField('grammar', 'grammar: cannot be combined with tools');
  return {
    ...answerRequest(parsed, logprobs(parsed), defaults),
    messages: withToolCalls(parsed.messages).map(chatMessage),
    tools,
    callStyle: callStyle(input),
    structure: requested,
    described: tools === null ? [] : describedGrammars(input),
    splitThoughts: parsed.reasoning_format !== 'none',
    templateArguments: templateArguments(parsed),
  };
}

function logprobs({ logprobs: requested, top_logprobs: top }: z.infer<typeof body>): number | null {
  if (requested === true) return top ?? 0;
  if (top == null || top === 0) return null;
  throw invalidField('top_logprobs', 'top_logprobs: needs "logprobs": true');
}

/**
 * Passes `reasoning_effort` to templates that read it. `none` also turns off the thinking switch that most
 * reasoning models have.
 */
function templateArguments(parsed: z.infer<typeof body>): Record<string, unknown> {
  const { enable_thinking: thinking, reasoning_effort: effort } = parsed;
  return {
    ...(typeof effort === 'string' ? { reasoning_effort: effort } : {}),
    ...(effort === 'none' ? { enable_thinking: false } : {}),
    ...(typeof thinking === 'boolean' ? { enable_thinking: thinking } : {}),
    ...parsed.chat_template_kwargs,
  };
}
