import { readFileSync } from 'node:fs';
import { z } from 'zod';

const FOLDER = new URL('captured/', import.meta.url);

const entry = z.strictObject({
  model: z.string(),
  /** `recorded`: a model wrote these very bytes. `after`: an output that `source` reports, its marks, spaces and slips as there, its words ours. `documented`: an example of whoever made the form. */
  kind: z.enum(['recorded', 'after', 'documented']),
  source: z.string(),
  note: z.string().optional(),
  /** The family whose calls it holds, where the file is not named after one. */
  family: z.string().optional(),
  /** What the prompt ended in. */
  prompt: z.string().optional(),
  /** What the request offered: parameters by name. */
  tools: z.record(z.string(), z.unknown()),
  raw: z.string(),
  message: z.strictObject({
    content: z.string(),
    reasoning_content: z.string().optional(),
    tool_calls: z.array(z.strictObject({ name: z.string(), arguments: z.unknown() })),
  }),
  /** The model stopped before its last arguments were whole. */
  cut: z.boolean().optional(),
  /** What the model gave as arguments is no JSON. */
  broken: z.boolean().optional(),
});
const file = z.strictObject({ about: z.string(), entries: z.array(entry) });

/** An answer that a model gave, and the message that it is. */
export type CapturedAnswer = z.infer<typeof entry>;

/** The answers of the file `name` of `captured`. */
export const captured = (name: string): CapturedAnswer[] =>
  file.parse(JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'))).entries;
