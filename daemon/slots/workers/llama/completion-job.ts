import { invalidField } from '../refusal.ts';
import type { AnswerJob } from './choices.ts';
import type { CompletionRequest, Prompt } from './completion-request.ts';
import type { ChatEngine } from './engine.ts';
import { PLAIN_TEXT } from './response-reader.ts';
import { refuseOverflow } from './window-overflow.ts';

/** Builds the job of a completion. Throws a 400 for a prompt that the model cannot accept. */
export function completionJob(
  { vocabulary, info }: Pick<ChatEngine, 'vocabulary' | 'info'>,
  request: CompletionRequest,
): AnswerJob {
  const { suffix, structure } = request;
  const tokensOf = (prompt: Prompt): number[] => {
    if (typeof prompt !== 'string') vocabulary.checkIds(prompt, 'prompt');
    const tokens = typeof prompt === 'string' ? vocabulary.tokens(prompt) : prompt;
    return suffix === null ? tokens : around(tokens, suffix);
  };
  const around = (prefix: readonly number[], after: string): number[] => {
    const tokens = vocabulary.infill(prefix, after);
    if (tokens !== null) return tokens;
    throw invalidField('suffix', 'suffix: this model has no tokens for filling a gap');
  };
  const prompts = request.prompts.map(tokensOf);
  for (const tokens of prompts) refuseOverflow(tokens.length, info, 'prompt');
  return {
    prompts,
    readOptions: PLAIN_TEXT,
    generation: {
      ...request.generation,
      grammar: structure === null ? null : { text: structure.grammar, param: structure.param },
    },
    n: request.n,
    relaxed: structure?.relaxed ?? [],
    gate: null,
    marks: [],
    echoes: request.echo
      ? request.prompts.map((p) => (typeof p === 'string' ? p : vocabulary.text(p)))
      : null,
  };
}
