import { type SourcePaths, tagSource } from '../error-paths.ts';
import { asList, asObject, type Json } from '../json.ts';
import { invalidField, pickFields } from '../read-body.ts';
import { clientTool, knownClientTool } from './client-tools.ts';
import { type DeclaredTool, declaredTools } from './declared-tools.ts';
import type { Conversation } from './references.ts';
import type { ResponseTool } from './request-schema.ts';
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
  /** Paths of grammars of custom tools: they are described to the model and not enforced. */
  readonly described: readonly string[];
}

/**
 * Returns the tools of a chat. Keeps functions. Turns a custom tool into a function with one text parameter,
 * and a client-run search into a function. Leaves out tools that a provider would run, because agents declare
 * them in every request, unless `tool_choice` requires one. A tool that is declared again keeps its first
 * position, which preserves the prompt cache. A deferred tool is offered once the history names or calls it.
 */
export function chatTools(body: Conversation, sources: SourcePaths): ChatTools {
  const known = new Map<string, KnownTool>();
  const ignored = new Set<string>();
  const described: string[] = [];
  const tools: Json[] = [];
  const all = declaredTools(body);
  const isHidden = hiddenTools(all, body);
  for (const declared of all) {
    const tool = knownTool(declared);
    if (tool !== null && isHidden(declared, tool)) continue;
    if (tool === null) ignored.add(declared.tool.type);
    else if (registerTool(known, tool, declared.path)) {
      tools.push(tagSource(sources, declared.path, chatTool(tool, declared.tool)));
      if (tool.kind === 'custom' && grammarOf(declared.tool) !== null)
        described.push(`${declared.path}.format`);
    }
  }
  const choice = body.tool_choice ?? undefined;
  const chosen = choice === undefined ? {} : { tool_choice: chatChoice(choice) };
  const parallel = pickFields(body, ['parallel_tool_calls']);
  const none = tools.length === 0 && choice !== 'required' && typeof choice !== 'object';
  const fields = none ? {} : { tools, ...chosen, ...parallel };
  return { fields, known, ignored: [...ignored], described: none ? [] : described };
}

/**
 * Returns whether a tool waits for its search. Without a search that the caller runs, no tool waits: a
 * provider's search does not run here.
 */
function hiddenTools(all: readonly DeclaredTool[], { input }: Conversation) {
  const hasSearch = all.some(({ tool }) => tool.type === 'tool_search' && tool.execution === 'client');
  if (!hasSearch || !all.some(({ isDeferred }) => isDeferred)) return () => false;
  const called = new Set(
    input.items.flatMap((item) =>
      item.type === 'function_call' || item.type === 'custom_tool_call'
        ? [chatName({ name: item.name, namespace: item.namespace ?? null })]
        : [],
    ),
  );
  return ({ isDeferred }: DeclaredTool, tool: KnownTool): boolean =>
    isDeferred && !called.has(chatName(tool));
}

/** Returns null for tools that only a provider runs. */
function knownTool({ tool, namespace, path }: DeclaredTool): KnownTool | null {
  const { type, name, execution } = tool;
  if (type === 'tool_search' && execution === 'client') return SEARCH;
  const client = clientTool(tool);
  if (client !== undefined) return knownClientTool(client);
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
  const client = clientTool(tool);
  if (client !== undefined) return { type: 'function', function: { ...client } };
  const { description, parameters, strict } = tool;
  const described = typeof description === 'string' ? { description } : {};
  const shape = asObject(parameters) ? { parameters } : {};
  const held = typeof strict === 'boolean' ? { strict } : {};
  return { type: 'function', function: { name, ...described, ...shape, ...held } };
}

/** The grammar that the input of a custom tool must fit, if it has one. */
function grammarOf({ format }: ResponseTool): string | null {
  const definition = asObject(format)?.definition;
  return typeof definition === 'string' ? definition : null;
}

function customTool(name: string, tool: ResponseTool): Json {
  const { description } = tool;
  const grammar = grammarOf(tool);
  const words = [
    typeof description === 'string' ? description : '',
    grammar === null ? '' : `The input must fit this grammar:\n${grammar}`,
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

function namedChoice(choice: Json): Json {
  const { name, namespace } = choice;
  const space = typeof namespace === 'string' ? namespace : null;
  const own = clientTool(choice)?.name ?? name;
  if (own === undefined || own === null) throw invalidField('tool_choice.name', 'is required');
  const chosen = typeof own === 'string' ? chatName({ name: own, namespace: space }) : own;
  return { type: 'function', function: { name: chosen } };
}

function chatChoice(choice: string | Json): unknown {
  if (typeof choice === 'string') {
    if (WORDS.includes(choice)) return choice;
    throw invalidField('tool_choice', 'must be auto, none, required or name a tool');
  }
  if (choice.type === 'function' || choice.type === 'custom' || clientTool(choice) !== undefined)
    return namedChoice(choice);
  if (choice.type !== 'allowed_tools')
    throw invalidField('tool_choice', 'only tools that the caller runs function or custom tool');
  const tools = asList(choice.tools)
    .map((tool) => asObject(tool) ?? {})
    .filter((tool) => typeof tool.name === 'string' || clientTool(tool) !== undefined)
    .map(namedChoice);
  return { type: 'allowed_tools', allowed_tools: { mode: choice.mode ?? 'auto', tools } };
}
