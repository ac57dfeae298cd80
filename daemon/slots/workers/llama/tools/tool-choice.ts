import { z } from 'zod';
import { invalidField } from '../../refusal.ts';

/** A tool that the caller offers. */
export interface Tool {
  type: 'function';
  function: { name: string; parameters?: unknown; [other: string]: unknown };
  [other: string]: unknown;
}

/** The tools of one request and what must be done with them. */
export interface Tools {
  offered: Tool[];
  /** Names one of which the answer must call; null leaves it to the model. */
  forced: string[] | null;
  /** False: one call at most. */
  parallel: boolean;
}

const TOOLS_MOST = 1_024;
const tool = z.looseObject({
  type: z.literal('function', { error: 'only tools of type "function" are supported' }),
  function: z.looseObject({ name: z.string().min(1).max(256) }),
});

/** The request fields about tools. */
export const toolFields = {
  tools: z.array(tool).max(TOOLS_MOST).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
};

const named = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({ name: z.string() }),
});

/** The tools of a request, null when none may be called. Throws a 400 for a choice that can't be made. */
export function readTools(body: z.infer<z.ZodObject<typeof toolFields>>): Tools | null {
  const offered = (body.tools ?? []) as Tool[];
  const forced = forcedNames(body.tool_choice ?? 'auto', offered);
  if (offered.length === 0 || body.tool_choice === 'none') return null;
  return { offered, forced, parallel: body.parallel_tool_calls ?? true };
}

function forcedNames(choice: unknown, offered: readonly Tool[]): string[] | null {
  if (choice === 'auto' || choice === 'none') return null;
  const names = offered.map((one) => one.function.name);
  if (choice === 'required') {
    if (names.length > 0) return names;
    throw invalidField('tool_choice', 'tool_choice: "required" needs at least one tool');
  }
  const parsed = named.safeParse(choice);
  if (!parsed.success)
    throw invalidField('tool_choice', 'tool_choice: must be "auto", "none", "required" or name a function');
  const { name } = parsed.data.function;
  if (names.includes(name)) return [name];
  throw invalidField(
    'tool_choice',
    `tool_choice: no tool of the name ${JSON.stringify(name.slice(0, 100))} is offered`,
  );
}
