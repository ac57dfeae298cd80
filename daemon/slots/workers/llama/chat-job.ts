import { chatPlan } from './chat-plan.ts';
import { chatPrompt } from './chat-prompt.ts';
import type { ChatRequest } from './chat-request.ts';
import type { AnswerJob } from './choices.ts';
import type { ChatEngine } from './engine.ts';
import { refuseOverflow } from './window-overflow.ts';

/** Counts the prompt tokens of a chat of any length. Throws a 400 when the template refuses the messages. */
export const countTokens = (
  { template, vocabulary }: Pick<ChatEngine, 'template' | 'vocabulary'>,
  request: ChatRequest,
): number => vocabulary.tokens(chatPrompt(template, request).text).length;

/**
 * Builds the job of a chat. Throws a 400 when the template refuses the messages or the prompt exceeds the
 * context window.
 */
export function chatJob(
  { template, vocabulary, info }: Pick<ChatEngine, 'template' | 'vocabulary' | 'info'>,
  request: ChatRequest,
): AnswerJob {
  const prompt = chatPrompt(template, request);
  const tokens = vocabulary.tokens(prompt.text);
  refuseOverflow(tokens.length, info, 'messages');
  const { grammar, ...plan } = chatPlan(request, template.family, prompt);
  const { stops } = request.generation;
  return {
    ...plan,
    marks: [...plan.marks, ...template.ends],
    prompts: [tokens],
    generation: { ...request.generation, stops: [...stops, ...template.ends], grammar },
    n: request.n,
    echoes: null,
  };
}
