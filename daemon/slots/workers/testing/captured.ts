import { readFileSync } from 'node:fs';
import { z } from 'zod';

const FOLDER = new URL('captured/', import.meta.url);

const entry = z.strictObject({
  model: z.string(),
  /**
   * `recorded`: the exact bytes of a model. `after`: an output reported in `source`, with its marks, spaces
   * and errors, and our words. `documented`: an example by the authors of the format.
   */
  kind: z.enum(['recorded', 'after', 'documented']),
  source: z.string(),
  note: z.string().optional(),
  /** The family of the calls, when the file is not named after one. */
  family: z.string().optional(),
  /** The end of the prompt. */
  prompt: z.string().optional(),
  /** The offered parameters by tool name. */
  tools: z.record(z.string(), z.unknown()),
  raw: z.string(),
  message: z.strictObject({
    content: z.string(),
    reasoning_content: z.string().optional(),
    tool_calls: z.array(z.strictObject({ name: z.string(), arguments: z.unknown() })),
  }),
  /** True: the model stopped before its last arguments were complete. */
  cut: z.boolean().optional(),
  /** True: the arguments are not valid JSON. */
  broken: z.boolean().optional(),
});
const file = z.strictObject({ about: z.string(), entries: z.array(entry) });

/** An output of a model and the message that it represents. */
export type CapturedAnswer = z.infer<typeof entry>;

/** Returns the outputs in the file `name` of `captured`. */
export const captured = (name: string): CapturedAnswer[] =>
  file.parse(JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'))).entries;
