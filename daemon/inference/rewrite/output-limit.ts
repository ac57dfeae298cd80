import { fieldOf } from './body-index.ts';
import type { BodyRule } from './body-rule.ts';
import { NO_EDITS, replace } from './edits.ts';

const NAME = 'max_completion_tokens';

/**
 * A translated chat limits its response by `max_tokens`, which every engine supports except OpenAI's newer
 * models; they require `max_completion_tokens`. A chat that is not translated stays unchanged.
 */
export const answerLimit: BodyRule = ({ index, origin }) => {
  const limit = fieldOf(index, 'max_tokens');
  if (limit === undefined || !servesOpenAi(origin)) return NO_EDITS;
  return [replace({ start: limit.before, end: limit.value.start }, `${JSON.stringify(NAME)}:`)];
};

/** OpenAI in any region, or Azure, which serves the same models. */
const OPENAI =
  /^https:\/\/(([a-z]+\.)?api\.openai\.com|[\w-]+\.(openai|services\.ai|cognitiveservices)\.azure\.com)$/;

const servesOpenAi = (origin: string | undefined): boolean => origin !== undefined && OPENAI.test(origin);
