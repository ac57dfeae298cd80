import { z } from 'zod';
import { invalidField } from '../../refusal.ts';
import type { CallStyle } from './pieces.ts';
import { MAX_TOOLS, toolFields } from './tool-choice.ts';

/** The parameter of the function that represents a custom tool. */
const INPUT = { type: 'string', description: 'The whole input of the tool, as plain text.' };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns what a custom tool declares; null for another tool. */
const customOf = (tool: unknown): Record<string, unknown> | null => {
  if (!isRecord(tool) || tool.type !== 'custom') return null;
  return isRecord(tool.custom) ? tool.custom : {};
};

/** The grammar that the input of a custom tool must fit, if it has one. */
function grammarOf({ format }: Record<string, unknown>): string | null {
  const definition = isRecord(format) && isRecord(format.grammar) ? format.grammar.definition : undefined;
  return typeof definition === 'string' ? definition : null;
}

/** Returns a custom tool as a function with one text; any other value unchanged. */
function functionTool(tool: unknown): unknown {
  const custom = customOf(tool);
  if (custom === null) return tool;
  const { name, description } = custom;
  const grammar = grammarOf(custom);
  const words = [
    typeof description === 'string' ? description : '',
    grammar === null ? '' : `The input must fit this grammar:\n${grammar}`,
  ];
  return {
    type: 'function',
    function: {
      name,
      description: words.filter((text) => text !== '').join('\n\n'),
      parameters: { type: 'object', properties: { input: INPUT }, required: ['input'] },
    },
  };
}

/** Returns a choice that names a custom tool as one that names its function. */
function functionChoice(choice: unknown): unknown {
  const custom = customOf(choice);
  if (custom !== null) return { type: 'function', function: { name: custom.name } };
  if (!isRecord(choice) || !isRecord(choice.allowed_tools)) return choice;
  const { tools } = choice.allowed_tools;
  const named = Array.isArray(tools) ? tools.map(functionChoice) : tools;
  return { ...choice, allowed_tools: { ...choice.allowed_tools, tools: named } };
}

/** The request fields about tools, in all forms of OpenAI's API. */
export const declaredToolFields = {
  ...toolFields,
  tools: z.preprocess((tools) => (Array.isArray(tools) ? tools.map(functionTool) : tools), toolFields.tools),
  tool_choice: z.preprocess(functionChoice, toolFields.tool_choice),
  functions: z
    .array(z.looseObject({ name: z.string().min(1).max(256) }))
    .max(MAX_TOOLS)
    .nullish(),
  function_call: z.union([z.string(), z.looseObject({ name: z.string() })]).nullish(),
};

type Declared = z.infer<z.ZodObject<typeof declaredToolFields>>;

/**
 * Returns the fields with the functions of OpenAI's older API as tools, of which an answer calls one at most. Throws a
 * 422 for functions next to tools.
 */
export function withFunctions<T extends Declared>(body: T): T {
  const { functions, function_call: choice, tools } = body;
  if (functions == null || functions.length === 0) {
    if (isRecord(choice)) throw invalidField('function_call', 'function_call: no functions are offered');
    return body;
  }
  if (tools != null && tools.length > 0)
    throw invalidField('functions', 'functions: cannot be combined with tools');
  if (isRecord(choice) && !functions.some(({ name }) => name === choice.name))
    throw invalidField('function_call', 'function_call: no function of this name is offered');
  if (typeof choice === 'string' && !['auto', 'none'].includes(choice))
    throw invalidField('function_call', 'function_call: must be "auto", "none" or name a function');
  return {
    ...body,
    tools: functions.map((called) => ({ type: 'function', function: called })),
    tool_choice: isRecord(choice) ? { type: 'function', function: { name: choice.name } } : choice,
    parallel_tool_calls: false,
  };
}

/** Returns the fields of custom tools with a grammar: it is described to the model and not enforced. */
export const describedGrammars = (input: unknown): string[] =>
  listOf(input, 'tools').flatMap((tool, at) => {
    const custom = customOf(tool);
    return custom === null || grammarOf(custom) === null ? [] : [`tools.${at}.custom.format`];
  });

/** Returns a path below the function of a tool as the caller wrote it, if that is a custom tool. */
export function declaredPath(input: unknown, path: string): string {
  const [, at, rest = ''] = /^tools\.(\d+)\.function(.*)$/.exec(path) ?? [];
  if (at === undefined || customOf(listOf(input, 'tools')[Number(at)]) === null) return path;
  return `tools.${at}.custom${rest}`;
}

function listOf(input: unknown, field: string): readonly unknown[] {
  const list = isRecord(input) ? input[field] : undefined;
  return Array.isArray(list) ? list : [];
}

/** Returns how the caller declared its tools. */
export function callStyle(input: unknown): CallStyle {
  const custom = listOf(input, 'tools').flatMap((tool) => {
    const name = customOf(tool)?.name;
    return typeof name === 'string' ? [name] : [];
  });
  return { legacy: listOf(input, 'functions').length > 0, custom: new Set(custom) };
}
