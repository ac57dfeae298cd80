import { z } from 'zod';

/** A text without control characters, which no configuration file holds as they are. */
export const plainText = (): z.ZodString =>
  z.string().regex(/^[^\0-\x1f\x7f]*$/, 'must not contain control characters');
