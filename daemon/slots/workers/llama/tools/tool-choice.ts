import { z } from 'zod';
import { invalidField } from '../../refusal.ts';
import { isSchema } from '../json/schema-shape.ts';

/** A tool that the caller offers. */
export interface Tool {
  type: 'function';
  function: { name: string; parameters?: unknown; [other: string]: unknown };
  [other: string]: unknown;
}

/** The tools of one request and the constraints on calls. */
export interface Tools {
  offered: Tool[];
  /** The answer must call one of these names. Null: the model decides. */
  forced: string[] | null;
  /** False: at most one call. */
  parallel: boolean;
}

export const MAX_TOOLS = 1_024;
const tool = z.looseObject({
  type: z.literal('function', { error: 'only tools of type "function" are supported' }),
  function: z.looseObject({ name: z.string().min(1).max(256) }),
});

/** The request fields about tools. */
export const toolFields = {
  tools: z.array(tool).max(MAX_TOOLS).nullish(),
  tool_choice: z.union([z.string(), z.looseObject({})]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
};

const named = z.looseObject({
  type: z.literal('function'),
  function: z.looseObject({ name: z.string() }),
});
const allowed = z.looseObject({
  type: z.literal('allowed_tools'),
  allowed_tools: z.looseObject({
    mode: z.enum(['auto', 'required']),
    tools: z.array(named).min(1).max(MAX_TOOLS),
  }),
});

/**
 * Returns the tools of a request, or null when none may be called. With `allowed_tools`, only those are
 * offered to the model. Throws a 400 for an invalid choice.
 */
export function readTools(body: z.infer<z.ZodObject<typeof toolFields>>): Tools | null {
  const declared = (body.tools ?? []) as Tool[];
  const { names, forced } = chosen(body.tool_choice ?? 'auto', declared);
  const offered = names === null ? declared : declared.filter((one) => names.includes(one.function.name));
  if (offered.length === 0 || body.tool_choice === 'none') return null;
  return { offered, forced, parallel: body.parallel_tool_calls ?? true };
}

/** Returns the tools of which one must be called. Null when the model decides. */
export function forcedTools(tools: Tools | null): readonly Tool[] | null {
  if (tools === null || tools.forced === null) return null;
  const forced = new Set(tools.forced);
  return tools.offered.filter((tool) => forced.has(tool.function.name));
}

/** The parameters of each tool by name. Null for a tool without parameters. */
export const parametersOf = (tools: readonly Tool[]): ReadonlyMap<string, unknown> =>
  new Map(tools.map(({ function: { name, parameters } }) => [name, parameters ?? null]));

/**
 * Returns the tool with an empty description and an empty list of parameters where they are missing. Templates that
 * read them fail otherwise.
 */
export const wholeTool = ({ function: { parameters, ...called }, ...other }: Tool): Tool => ({
  ...other,
  function: { description: '', parameters: wholeParameters(parameters), ...called },
});

const wholeParameters = (parameters: unknown): unknown =>
  parameters === undefined || parameters === null || isSchema(parameters)
    ? { type: 'object', properties: {}, ...parameters }
    : parameters;

/** Which tools are offered (null: all) and which of them must be called. */
interface Choice {
  names: string[] | null;
  forced: string[] | null;
}

function chosen(choice: unknown, declared: readonly Tool[]): Choice {
  if (choice === 'auto' || choice === 'none') return { names: null, forced: null };
  const names = declared.map((one) => one.function.name);
  if (choice === 'required') {
    if (names.length > 0) return { names: null, forced: names };
    throw invalidField('tool_choice', 'tool_choice: "required" needs at least one tool');
  }
  const some = allowed.safeParse(choice);
  if (some.success) {
    const { mode, tools } = some.data.allowed_tools;
    const listed = tools.map((tool) => known(tool.function.name, names));
    return { names: listed, forced: mode === 'required' ? listed : null };
  }
  const one = named.safeParse(choice);
  if (one.success) return { names: null, forced: [known(one.data.function.name, names)] };
  throw invalidField(
    'tool_choice',
    'tool_choice: must be "auto", "none", "required", name a function, or be "allowed_tools" with a mode and a list of functions',
  );
}

function known(name: string, names: readonly string[]): string {
  if (names.includes(name)) return name;
  throw invalidField(
    'tool_choice',
    `tool_choice: no tool of the name ${JSON.stringify(name.slice(0, 100))} is offered`,
  );
}
