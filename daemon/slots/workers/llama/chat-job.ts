import { chatPlan } from './chat-plan.ts';
import type { ChatRequest } from './chat-request.ts';
import type { AnswerJob } from './choices.ts';
import { type ChatEngine, refuseOverflow } from './engine.ts';

const promptOf = (template: ChatEngine['template'], request: ChatRequest): string =>
  template.render({
    messages: request.messages,
    tools: request.tools?.offered ?? null,
    templateArguments: request.templateArguments,
  });

/** Counts the prompt tokens of a chat of any length. Throws a 400 when the template refuses the messages. */
export const countTokens = (
  { template, vocabulary }: Pick<ChatEngine, 'template' | 'vocabulary'>,
  request: ChatRequest,
): number => vocabulary.tokens(promptOf(template, request)).length;

/**
 * Builds the job of a chat. Throws a 400 when the template refuses the messages or the prompt exceeds the
 * context window.
 */
export function chatJob(
  { template, vocabulary, info }: Pick<ChatEngine, 'template' | 'vocabulary' | 'info'>,
  request: ChatRequest,
): AnswerJob {
  const prompt = promptOf(template, request);
  const tokens = vocabulary.tokens(prompt);
  refuseOverflow(tokens.length, info.context, 'messages');
  const { grammar, ...plan } = chatPlan(request, template.family, prompt);
  return {
    ...plan,
    prompts: [tokens],
    generation: { ...request.generation, grammar },
    n: request.n,
    echoes: null,
  };
}
