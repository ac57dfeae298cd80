import { IgnoredNames } from '../../../contract/ignored.ts';
import { asObject, type Json } from '../json.ts';
import { invalidField, pickFields, readBody } from '../read-body.ts';
import { thinkingFields } from '../thinking-fields.ts';
import { chatMessages, type TranslationNotes } from './input.ts';
import { type CountBody, countBody, type MessagesBody, messagesBody } from './request-schema.ts';
import { toolFields } from './tools.ts';

const newNotes = (): TranslationNotes => ({ places: new WeakMap(), ignored: new IgnoredNames() });

/**
 * Translates a request to a chat and records source paths and ignored blocks in `notes`. Throws
 * `request.invalid` for unsupported features.
 */
export function readMessages(bytes: Buffer, notes: TranslationNotes = newNotes()): Json {
  const body: MessagesBody = readBody(messagesBody, bytes);
  const stops = body.stop_sequences ?? [];
  return {
    ...promptOf(body, notes),
    ...pickFields(body, ['temperature', 'top_p', 'top_k']),
    max_tokens: body.max_tokens,
    ...(stops.length === 0 ? {} : { stop: stops }),
    ...(body.stream === true ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

/** Translates the part of a request that forms the prompt. */
export const readCount = (bytes: Buffer, notes: TranslationNotes = newNotes()): Json =>
  promptOf(readBody(countBody, bytes), notes);

function promptOf(body: CountBody, notes: TranslationNotes): Json {
  if ((body.mcp_servers ?? []).length > 0)
    throw invalidField('mcp_servers', 'is not supported: call MCP servers from the client');
  const messages = chatMessages(body, notes);
  if (messages.length === 0) throw invalidField('messages', 'contain nothing to answer');
  // A container of earlier turns exists at their provider only.
  if (typeof body.container === 'string') notes.ignored.add('container');
  return {
    ...thinkingOf(body),
    ...pickFields(body, ['model', 'chat_template_kwargs']),
    messages,
    ...toolFields(body, notes),
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

function formatOf(format: Json | undefined): Json {
  if (!format) return {};
  if (format.type !== 'json_schema') throw invalidField('output_config.format.type', 'must be json_schema');
  const schema = asObject(format.schema);
  if (!schema) throw invalidField('output_config.format.schema', 'is required');
  return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } } };
}
