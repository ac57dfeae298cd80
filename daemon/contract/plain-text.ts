import { z } from 'zod';

/** A text without control characters, which no configuration file holds as they are. */
export const plainText = (): z.ZodString =>
  z.string().regex(/^[^\u0000-\u001f\u007f]*$/, 'must not contain control characters');
