import { z } from 'zod';
import { MAX_DOCUMENTS } from './rerank.ts';

/** One side of a score request: a text, a list of texts, or content that only some engines accept. */
const side = z
  .union([z.string(), z.array(z.unknown()).min(1).max(MAX_DOCUMENTS), z.looseObject({})], {
    error: (issue) =>
      Array.isArray(issue.input)
        ? `must be a list of 1 to ${MAX_DOCUMENTS} texts`
        : 'must be a text or a list of texts',
  })
  .nullish();

/** The body of a score request. vLLM accepts each pair of names. */
export const ScoreBody = z.looseObject({
  text_1: side,
  text_2: side,
  data_1: side,
  data_2: side,
  queries: side,
  documents: side,
  items: side,
});

/** The names of both sides, in the order in which they are looked for. */
export const SCORE_SIDES = [
  ['text_1', 'text_2'],
  ['data_1', 'data_2'],
  ['queries', 'documents'],
  ['queries', 'items'],
] as const satisfies readonly (readonly [keyof z.infer<typeof ScoreBody>, keyof z.infer<typeof ScoreBody>])[];
