import { from, type Places } from '../callers-words.ts';
import { asList, asObject, type Json } from '../json.ts';
import { passOn, refused } from '../read-body.ts';
import type { ResponsesBody, ResponseTool } from './request-schema.ts';

/** The one parameter of the function that stands for a custom tool: its free text. */
export const INPUT_FIELD = 'input';

export interface ChatTools {
  /** `tools`, `tool_choice` and `parallel_tool_calls` of the chat. */
  readonly fields: Json;
  /** Names of tools that take free text. */
  readonly custom: ReadonlySet<string>;
  /** Types of tools that only their maker's servers run (`web_search`): they are left out. */
  readonly ignored: readonly string[];
}

/**
 * The tools of a chat. Functions stay; a custom tool becomes a function of one text; what a provider would run itself is
 * left out, because agents name it in every request whoever answers, unless `tool_choice` demands it.
 */
export function chatTools(body: ResponsesBody, places: Places): ChatTools {
  const given = body.tools ?? [];
  const tools = given.flatMap((tool, at) => {
    const made = chatTool(tool, at);
    return made === null ? [] : [from(places, `tools.${at}`, made)];
  });
  const custom = new Set(given.flatMap(({ type, name }) => (type === 'custom' && name ? [name] : [])));
  const ignored = given.flatMap(({ type }) => (type === 'function' || type === 'custom' ? [] : [type]));
  const choice = body.tool_choice ?? undefined;
  const chosen = choice === undefined ? {} : { tool_choice: chatChoice(choice) };
  const parallel = passOn(body, ['parallel_tool_calls']);
  const none = tools.length === 0 && choice !== 'required' && typeof choice !== 'object';
  const fields = none ? {} : { tools, ...chosen, ...parallel };
  return { fields, custom, ignored: [...new Set(ignored)] };
}

function chatTool(tool: ResponseTool, at: number): Json | null {
  if (tool.type !== 'function' && tool.type !== 'custom') return null;
  const { name, description, parameters, strict } = tool;
  if (typeof name !== 'string' || name === '') throw refused(`tools.${at}.name`, 'is required');
  if (tool.type === 'custom') return customTool(name, tool);
  const told = typeof description === 'string' ? { description } : {};
  const shape = asObject(parameters) ? { parameters } : {};
  const held = typeof strict === 'boolean' ? { strict } : {};
  return { type: 'function', function: { name, ...told, ...shape, ...held } };
}

function customTool(name: string, { description, format }: ResponseTool): Json {
  const grammar = asObject(format)?.definition;
  const words = [
    typeof description === 'string' ? description : '',
    typeof grammar === 'string' ? `The input must fit this grammar:\n${grammar}` : '',
  ];
  const input = { type: 'string', description: 'The whole input of the tool, as plain text.' };
  return {
    type: 'function',
    function: {
      name,
      description: words.filter((text) => text !== '').join('\n\n'),
      parameters: { type: 'object', properties: { [INPUT_FIELD]: input }, required: [INPUT_FIELD] },
    },
  };
}

const WORDS = ['auto', 'none', 'required'];
const named = (name: unknown): Json => ({ type: 'function', function: { name } });

function chatChoice(choice: string | Json): unknown {
  if (typeof choice === 'string') {
    if (WORDS.includes(choice)) return choice;
    throw refused('tool_choice', 'must be auto, none, required or name a tool');
  }
  if (choice.type === 'function' || choice.type === 'custom') return named(choice.name);
  if (choice.type !== 'allowed_tools')
    throw refused('tool_choice', 'only function and custom tools can be demanded here');
  const tools = asList(choice.tools).map((tool) => named(asObject(tool)?.name));
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode ?? 'auto', tools } };
}
