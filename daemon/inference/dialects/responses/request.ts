import { IgnoredNames } from '../../../contract/ignored.ts';
import type { SourcePaths } from '../error-paths.ts';
import type { Json } from '../json.ts';
import { invalidField, pickFields, readBody } from '../read-body.ts';
import { thinkingFields } from '../thinking-fields.ts';
import { chatMessages } from './input.ts';
import { type Conversation, nameUnreadable, resolveInput } from './references.ts';
import { rejectUnsupportedFields, unsupportedExtras } from './refusals.ts';
import { type ResponsesBody, responsesBody } from './request-schema.ts';
import type { CallerMemory } from './response-memory.ts';
import { type ChatTools, chatTools } from './tools.ts';

/** Fields with the same meaning in a chat, from OpenAI and local engines. */
const SAME = [
  'model',
  'temperature',
  'top_p',
  'seed',
  'stop',
  'top_k',
  'min_p',
  'presence_penalty',
  'frequency_penalty',
  'repeat_penalty',
  'enable_thinking',
  'chat_template_kwargs',
] as const;

export interface ResponsesRequest {
  readonly body: Conversation;
  readonly chat: Json;
  readonly tools: ChatTools;
  /** What the chat does not contain. */
  readonly ignored: IgnoredNames;
}

/**
 * Translates a request to a chat and records the source paths in `places`. References are resolved from
 * `memory`. Throws `request.invalid` for unsupported features and `request.unknown_reference` for output that
 * is no longer in memory.
 */
export function readResponses(
  bytes: Buffer,
  places: SourcePaths = new WeakMap(),
  memory: CallerMemory | null = null,
): ResponsesRequest {
  const parsed = readBody(responsesBody, bytes);
  rejectUnsupportedFields(parsed);
  const body: Conversation = { ...parsed, input: resolveInput(parsed, memory) };
  const ignored = new IgnoredNames();
  const tools = chatTools(body, places);
  for (const name of [...tools.ignored, ...tools.described, ...unsupportedExtras(parsed)]) ignored.add(name);
  nameUnreadable(body.input, ignored);
  const messages = chatMessages(body, places, ignored);
  if (messages.length === 0) throw invalidField('input', 'contains no message');
  const stream = body.stream === true;
  const limit = body.max_output_tokens;
  const verbosity = body.text?.verbosity;
  const chat = {
    ...thinkingFields(body.reasoning?.effort ?? null),
    ...pickFields(body, SAME),
    messages,
    ...tools.fields,
    ...responseFormat(body.text?.format ?? null),
    ...(typeof verbosity === 'string' ? { verbosity } : {}),
    ...(typeof limit === 'number' ? { max_tokens: limit } : {}),
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  };
  return { body, chat, tools, ignored };
}

type Format = NonNullable<NonNullable<ResponsesBody['text']>['format']>;

function responseFormat(format: Format | null): Json {
  if (format === null || format.type === 'text') return {};
  if (format.type === 'json_object') return { response_format: { type: 'json_object' } };
  const { name, schema } = format;
  const rest = pickFields(format, ['strict', 'description']);
  return { response_format: { type: 'json_schema', json_schema: { name, schema, ...rest } } };
}
