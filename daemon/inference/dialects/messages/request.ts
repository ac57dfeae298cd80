import { type SourcePaths, tagSource } from '../error-paths.ts';
import { asObject, type Json } from '../json.ts';
import { invalidField, pickFields, readBody } from '../read-body.ts';
import { thinkingFields } from '../thinking-fields.ts';
import { chatMessages } from './input.ts';
import { type CountBody, countBody, type MessagesBody, messagesBody } from './request-schema.ts';

/**
 * Translates a request to a chat and records the source paths in `places`. Throws `request.invalid` for
 * unsupported features.
 */
export function readMessages(bytes: Buffer, sources: SourcePaths = new WeakMap()): Json {
  const body: MessagesBody = readBody(messagesBody, bytes);
  const stops = body.stop_sequences ?? [];
  return {
    ...promptOf(body, sources),
    ...pickFields(body, ['temperature', 'top_p', 'top_k']),
    max_tokens: body.max_tokens,
    ...(stops.length === 0 ? {} : { stop: stops }),
    ...(body.stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

/** Translates the part of a request that forms the prompt. */
export const readCount = (bytes: Buffer, sources: SourcePaths = new WeakMap()): Json =>
  promptOf(readBody(countBody, bytes), sources);

function promptOf(body: CountBody, sources: SourcePaths): Json {
  if ((body.mcp_servers ?? []).length > 0)
    throw invalidField('mcp_servers', 'is not supported: call MCP servers from the client');
  if (typeof body.container === 'string')
    throw invalidField('container', 'is not supported: this gateway has no code containers');
  return {
    ...thinkingOf(body),
    ...pickFields(body, ['model', 'chat_template_kwargs']),
    messages: chatMessages(body, sources),
    ...toolFields(body, sources),
    ...formatOf(asObject(body.output_config?.format) ?? asObject(body.output_format)),
  };
}

/** Efforts that other providers' models do not know. */
const STRONGEST: ReadonlySet<string> = new Set(['xhigh', 'max']);

/**
 * `adaptive` uses the setting of the slot. `budget_tokens` is dropped: no local engine counts reasoning
 * tokens.
 */
function thinkingOf({ thinking, output_config: config }: CountBody): Json {
  const effort = typeof config?.effort === 'string' ? config.effort : null;
  const degree = effort !== null && STRONGEST.has(effort) ? 'high' : effort;
  const thinkingType = thinking?.type;
  if (thinkingType === 'disabled') return { enable_thinking: false };
  return { ...thinkingFields(degree), ...(thinkingType === 'enabled' ? { enable_thinking: true } : {}) };
}

function toolFields({ tools, tool_choice: choice }: CountBody, sources: SourcePaths): Json {
  const chatTools = (tools ?? []).map((tool, at) => {
    if (typeof tool.type === 'string' && tool.type !== 'custom')
      throw invalidField(`tools.${at}.type`, `tools of type ${tool.type} run at Anthropic only`);
    const parameters = tool.input_schema ?? { type: 'object', properties: {} };
    return tagSource(sources, `tools.${at}`, {
      type: 'function',
      function: { name: tool.name, ...pickFields(tool, ['description', 'strict']), parameters },
    });
  });
  if (chatTools.length === 0) return {};
  return {
    tools: chatTools,
    ...(choice ? { tool_choice: chatChoice(choice.type, choice.name ?? null) } : {}),
    ...(choice?.disable_parallel_tool_use === true ? { parallel_tool_calls: false } : {}),
  };
}

function chatChoice(type: 'auto' | 'any' | 'tool' | 'none', name: string | null): unknown {
  if (type === 'any') return 'required';
  if (type !== 'tool') return type;
  if (name === null) throw invalidField('tool_choice.name', 'is required');
  return { type: 'function', function: { name } };
}

function formatOf(format: Json | undefined): Json {
  if (!format) return {};
  if (format.type !== 'json_schema') throw invalidField('output_config.format.type', 'must be json_schema');
  const schema = asObject(format.schema);
  if (!schema) throw invalidField('output_config.format.schema', 'is required');
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } };
}
