import { anthropicEnvelope, anthropicErrorType } from '../../../contract/anthropic-error.ts';
import { GatewayError } from '../../../contract/errors.ts';
import { wholePieces } from '../chat-pieces.ts';
import { CHAT_PATH, type Dialect, type EventEncoder, type Responder } from '../dialect.ts';
import type { Origin, SourcePaths } from '../error-paths.ts';
import { encodeEvents } from '../event-encoder.ts';
import type { Json } from '../json.ts';
import { newId } from '../new-id.ts';
import { type MessageHead, wholeMessage } from './full-message.ts';
import { MessageStream } from './message-stream.ts';
import { readCount, readMessages } from './request.ts';

/** The Messages API of Anthropic. */
export const messages: Dialect = (bytes) => ({
  origin: originOf(bytes, readMessages),
  path: CHAT_PATH,
  task: 'chat',
  headers: {},
  events: (by) => messageEvents(headOf(by)),
  whole: (chat, by) => wholeMessage(headOf(by), wholePieces(chat, by.keep)),
  errorType: anthropicErrorType,
  envelope: anthropicEnvelope,
});

/** Counts the tokens of a prompt with the engine that would serve it, template and tools included. */
export const messagesCount: Dialect = (bytes) => ({
  origin: originOf(bytes, readCount),
  path: `${CHAT_PATH}/input_tokens`,
  task: 'count',
  headers: {},
  events: () => {
    throw new GatewayError('upstream.error', { message: 'The engine streamed where it was to count.' });
  },
  // vLLM names the field `count`.
  whole: ({ input_tokens, count }) => {
    const tokens = input_tokens ?? count;
    if (Number.isSafeInteger(tokens)) return { input_tokens: tokens };
    throw new GatewayError('upstream.error', { message: 'The engine returned no token count.' });
  },
  errorType: anthropicErrorType,
  envelope: anthropicEnvelope,
});

/** Fields of a chat and their names in the Messages API. */
const FIELDS = {
  max_completion_tokens: 'max_tokens',
  stop: 'stop_sequences',
  reasoning_effort: 'output_config.effort',
  enable_thinking: 'thinking',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  response_format: 'output_config.format',
  'response_format.json_schema.schema': 'output_config.format.schema',
} as const;

function originOf(body: Buffer, read: (body: Buffer, sources: SourcePaths) => Json): Origin {
  const sources: SourcePaths = new WeakMap();
  return { body, chat: read(body, sources), sourcePaths: sources, fields: FIELDS, imageType: 'image' };
}

const headOf = (by: Responder): MessageHead => ({ id: newId('msg'), ...by });

function messageEvents(head: MessageHead): EventEncoder {
  return encodeEvents(
    {
      make: (emit) => new MessageStream(head, (type, fields) => emit(type, { type, ...fields })),
      idle: (stream) => {
        stream.ping();
        return '';
      },
      fail: (stream, error) => stream.fail(anthropicEnvelope({ error }).error),
    },
    head.keep,
  );
}
