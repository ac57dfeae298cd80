import { type SourcePaths, tagSource } from '../error-paths.ts';
import type { Json } from '../json.ts';
import { invalidField, pickFields } from '../read-body.ts';
import { clientTool } from './client-tools.ts';
import type { TranslationNotes } from './input.ts';
import type { CountBody, InputMessage, MessageTool } from './request-schema.ts';
import { referencedTools } from './unreadable.ts';

type ToolBody = Pick<CountBody, 'tools' | 'tool_choice' | 'messages'>;

/** A tool and its path in the request. */
interface DeclaredTool {
  readonly tool: MessageTool;
  readonly path: string;
}

/**
 * Returns `tools`, `tool_choice` and `parallel_tool_calls` of the chat. Leaves out tools that Anthropic would
 * run, unless `tool_choice` requires one, and deferred tools that no block of the history refers to.
 */
export function toolFields(body: ToolBody, { places, ignored }: TranslationNotes): Json {
  const declared = (body.tools ?? []).map((tool, at) => ({ tool, path: `tools.${at}` }));
  const own = declared.filter(({ tool }) => runsAtClient(tool));
  for (const { tool } of declared) if (!runsAtClient(tool)) ignored.add(String(tool.type));
  const tools = loadedTools(own, body).map((each) => chatTool(each, places));
  const choice = body.tool_choice;
  assertChoice(body, tools);
  if (tools.length === 0) return {};
  return {
    tools,
    ...(choice ? { tool_choice: chatChoice(choice.type, choice.name ?? null) } : {}),
    ...(choice?.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}),
  };
}

const isFunction = ({ type }: MessageTool): boolean => typeof type !== 'string' || type === 'custom';

const runsAtClient = (tool: MessageTool): boolean =>
  isFunction(tool) || clientTool(String(tool.type)) !== undefined;

/**
 * Returns the tools that the model is offered. A deferred tool follows all others, in the order of the first
 * reference, so that the prompt before it stays the same. Without a way to search, all tools are offered: a
 * provider's search does not run here.
 */
function loadedTools(own: readonly DeclaredTool[], { tools, messages, tool_choice: choice }: ToolBody) {
  const isDeferred = ({ tool }: DeclaredTool): boolean => tool.defer_loading === true;
  const always = own.filter((each) => !isDeferred(each));
  const searchedByProvider = (tools ?? []).some(({ type }) => type?.startsWith('tool_search_tool_'));
  if (always.length === own.length || always.length === 0 || searchedByProvider) return own;
  const names = new Set(messages.flatMap(referencesOf));
  if (typeof choice?.name === 'string') names.add(choice.name);
  const deferred = new Map(own.filter(isDeferred).map((each) => [each.tool.name ?? '', each]));
  return [...always, ...[...names].flatMap((name) => deferred.get(name) ?? [])];
}

/** Returns the names of the tools that a message refers to or calls. */
function referencesOf({ content }: InputMessage): string[] {
  return (content ?? []).flatMap((block) => {
    if (block.type === 'tool_use') return [block.name];
    if (block.type === 'svc_unreadable') return referencedTools(block.block);
    if (block.type !== 'tool_result') return [];
    return (block.content ?? []).flatMap((each) =>
      referencedTools(each.type === 'svc_unreadable' ? each.block : each),
    );
  });
}

function chatTool({ tool, path }: DeclaredTool, places: SourcePaths): Json {
  const { name } = tool;
  if (typeof name !== 'string' || name === '')
    throw invalidField(`${path}.name`, name === '' ? 'must not be empty' : 'is required');
  const known = clientTool(String(tool.type));
  const parameters = known?.parameters ?? tool.input_schema ?? { type: 'object', properties: {} };
  const described = known ? { description: known.description } : pickFields(tool, ['description', 'strict']);
  return tagSource(places, path, { type: 'function', function: { name, ...described, parameters } });
}

/** Throws when the choice requires a tool and only a provider could run it. */
function assertChoice({ tools, tool_choice: choice }: ToolBody, offered: readonly Json[]): void {
  if (choice?.type === 'any' && offered.length === 0 && (tools ?? []).length > 0)
    throw invalidField('tool_choice', 'all tools are run by Anthropic, not here');
  if (choice?.type !== 'tool') return;
  const chosen = (tools ?? []).find(({ name }) => name === choice.name);
  if (chosen !== undefined && !runsAtClient(chosen))
    throw invalidField('tool_choice.name', `tools of the type ${chosen.type} are run by Anthropic, not here`);
}

function chatChoice(type: 'auto' | 'any' | 'tool' | 'none', name: string | null): unknown {
  if (type === 'any') return 'required';
  if (type !== 'tool') return type;
  if (name === null) throw invalidField('tool_choice.name', 'is required');
  return { type: 'function', function: { name } };
}
