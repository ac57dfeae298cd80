import { type SourcePaths, tagSource } from '../error-paths.ts';
import { asList, asObject, type Json } from '../json.ts';
import { invalidField, pickFields } from '../read-body.ts';
import { type DeclaredTool, declaredTools } from './declared-tools.ts';
import type { ResponsesBody, ResponseTool } from './request-schema.ts';
import { chatName, type KnownTool } from './tool-names.ts';

/** The only parameter of the function that represents a custom tool: its free text. */
export const INPUT_FIELD = 'input';

/** The tool search that the caller runs; its type is its name. */
export const SEARCH: KnownTool = { kind: 'search', name: 'tool_search', namespace: null };

export interface ChatTools {
  /** `tools`, `tool_choice` and `parallel_tool_calls` of the chat. */
  readonly fields: Json;
  /** The caller's tool for each function name of the chat. */
  readonly known: ReadonlyMap<string, KnownTool>;
  /** Types of tools that only a provider's servers run (`web_search`); they are left out. */
  readonly ignored: readonly string[];
}

/**
 * Returns the tools of a chat. Keeps functions. Turns a custom tool into a function with one text parameter,
 * and a client-run search into a function. Leaves out tools that a provider would run, because agents declare
 * them in every request, unless `tool_choice` requires one. A tool that is declared again keeps its first
 * position, which preserves the prompt cache.
 */
export function chatTools(body: ResponsesBody, sources: SourcePaths): ChatTools {
  const known = new Map<string, KnownTool>();
  const ignored = new Set<string>();
  const tools: Json[] = [];
  for (const declared of declaredTools(body)) {
    const tool = knownTool(declared);
    if (tool === null) ignored.add(declared.tool.type);
    else if (registerTool(known, tool, declared.path))
      tools.push(tagSource(sources, declared.path, chatTool(tool, declared.tool)));
  }
  const choice = body.tool_choice ?? undefined;
  const chosen = choice === undefined ? {} : { tool_choice: chatChoice(choice) };
  const parallel = pickFields(body, ['parallel_tool_calls']);
  const none = tools.length === 0 && choice !== 'required' && typeof choice !== 'object';
  const fields = none ? {} : { tools, ...chosen, ...parallel };
  return { fields, known, ignored: [...ignored] };
}

/** Returns null for tools that only a provider runs. */
function knownTool({ tool, namespace, path }: DeclaredTool): KnownTool | null {
  const { type, name, execution } = tool;
  if (type === 'tool_search' && execution === 'client') return SEARCH;
  if (type !== 'function' && type !== 'custom') return null;
  if (typeof name !== 'string' || name === '') throw invalidField(`${path}.name`, 'is required');
  return { kind: type, name, namespace };
}

/**
 * Registers a tool. Returns false for a repeated declaration. Throws `request.invalid` when another tool has
 * the same name in a chat, because a call would be ambiguous.
 */
function registerTool(known: Map<string, KnownTool>, tool: KnownTool, place: string): boolean {
  const name = chatName(tool);
  const before = known.get(name);
  if (before === undefined) {
    known.set(name, tool);
    return true;
  }
  const same = before.kind === tool.kind && before.name === tool.name && before.namespace === tool.namespace;
  if (same) return false;
  throw invalidField(`${place}.name`, `another tool has the name ${name} for the model, too`);
}

function chatTool(known: KnownTool, tool: ResponseTool): Json {
  const name = chatName(known);
  if (known.kind === 'custom') return customTool(name, tool);
  const { description, parameters, strict } = tool;
  const described = typeof description === 'string' ? { description } : {};
  const shape = asObject(parameters) ? { parameters } : {};
  const held = typeof strict === 'boolean' ? { strict } : {};
  return { type: 'function', function: { name, ...described, ...shape, ...held } };
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

function namedChoice({ name, namespace }: Json): Json {
  const space = typeof namespace === 'string' ? namespace : null;
  const chosen = typeof name === 'string' ? chatName({ name, namespace: space }) : name;
  return { type: 'function', function: { name: chosen } };
}

function chatChoice(choice: string | Json): unknown {
  if (typeof choice === 'string') {
    if (WORDS.includes(choice)) return choice;
    throw invalidField('tool_choice', 'must be auto, none, required or name a tool');
  }
  if (choice.type === 'function' || choice.type === 'custom') return namedChoice(choice);
  if (choice.type !== 'allowed_tools') throw invalidField('tool_choice', 'must be a function or custom tool');
  const tools = asList(choice.tools).map((tool) => namedChoice(asObject(tool) ?? {}));
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode ?? 'auto', tools } };
}
