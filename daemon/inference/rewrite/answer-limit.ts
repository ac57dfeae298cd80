import { fieldOf } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { NO_EDITS, replace } from './edits.ts';

const NAME = 'max_completion_tokens';

/**
 * A chat that was made from a request of another API limits its answer by `max_tokens`, which every engine reads but
 * OpenAI's newer models, which refuse it for `max_completion_tokens`. A chat that came as one stays as it was written.
 */
export const answerLimit: BodyRule = ({ index, origin }) => {
  const limit = fieldOf(index, 'max_tokens');
  if (limit === undefined || !servesOpenAi(origin)) return NO_EDITS;
  return [replace({ start: limit.before, end: limit.value.start }, `${JSON.stringify(NAME)}:`)];
};

/** OpenAI itself, at any of its regions, or Azure, which serves the same models. */
const OPENAI =
  /^https:\/\/(([a-z]+\.)?api\.openai\.com|[\w-]+\.(openai|services\.ai|cognitiveservices)\.azure\.com)$/;

const servesOpenAi = (origin: string | undefined): boolean => origin !== undefined && OPENAI.test(origin);
