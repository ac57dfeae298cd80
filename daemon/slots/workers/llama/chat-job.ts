import { chatPlan } from './chat-plan.ts';
import type { ChatRequest } from './chat-request.ts';
import type { AnswerJob } from './choices.ts';
import type { ChatEngine } from './engine.ts';
import { refuseOverflow } from './window-overflow.ts';

/** Counts the prompt tokens of a chat of any length. Throws a 400 when the template refuses the messages. */
export async function countTokens(
  { prompts, vocabulary }: Pick<ChatEngine, 'prompts' | 'vocabulary'>,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<number> {
  const { text } = await prompts.render(request, signal);
  return vocabulary.tokens(text).length;
}

/**
 * Builds the job of a chat. Throws a 400 when the template refuses the messages or the prompt exceeds the
 * context window.
 */
export async function chatJob(
  { template, prompts, vocabulary, info }: Pick<ChatEngine, 'template' | 'prompts' | 'vocabulary' | 'info'>,
  request: ChatRequest,
  signal: AbortSignal,
): Promise<AnswerJob> {
  const prompt = await prompts.render(request, signal);
  const tokens = vocabulary.tokens(prompt.text);
  refuseOverflow(tokens.length, info, 'messages');
  const { grammar, relaxed, ...plan } = chatPlan(request, template.family, prompt);
  const { stops } = request.generation;
  return {
    ...plan,
    callStyle: request.callStyle,
    relaxed: [...request.described, ...relaxed],
    marks: [...plan.marks, ...template.ends],
    prompts: [tokens],
    generation: { ...request.generation, stops: [...stops, ...template.ends], grammar },
    n: request.n,
    echoes: null,
  };
}
