import { anthropicEnvelope, anthropicErrorType } from '../../../contract/anthropic-error.ts';
import { GatewayError } from '../../../contract/errors.ts';
import { IgnoredNames } from '../../../contract/ignored.ts';
import { wholePieces } from '../chat-pieces.ts';
import { CHAT_PATH, type Dialect, type EventEncoder, type Responder, type Translation } from '../dialect.ts';
import { encodeEvents } from '../event-encoder.ts';
import type { Json } from '../json.ts';
import { newId } from '../new-id.ts';
import { type MessageHead, wholeMessage } from './full-message.ts';
import type { TranslationNotes } from './input.ts';
import { MessageStream } from './message-stream.ts';
import { readCount, readMessages } from './request.ts';

/** The Messages API of Anthropic. */
export const messages: Dialect = (bytes) => ({
  ...translated(bytes, readMessages),
  path: CHAT_PATH,
  task: 'chat',
  events: (by) => messageEvents(headOf(by)),
  whole: (chat, by) => wholeMessage(headOf(by), wholePieces(chat, by.keep)),
  errorType: (status) => anthropicErrorType(status),
  envelope: anthropicEnvelope,
});

/** Counts the tokens of a prompt with the engine that would serve it, template and tools included. */
export const messagesCount: Dialect = (bytes) => ({
  ...translated(bytes, readCount),
  path: `${CHAT_PATH}/input_tokens`,
  task: 'count',
  events: () => {
    throw new GatewayError('upstream.error', { message: 'The engine streamed where it was to count.' });
  },
  whole: ({ input_tokens }) => ({ input_tokens }),
  errorType: (status) => anthropicErrorType(status),
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
  'function.name': 'name',
  'function.description': 'description',
  'function.parameters': 'input_schema',
} as const;

function translated(
  body: Buffer,
  read: (body: Buffer, notes: TranslationNotes) => Json,
): Pick<Translation, 'origin' | 'headers'> {
  const notes: TranslationNotes = { places: new WeakMap(), ignored: new IgnoredNames() };
  const chat = read(body, notes);
  return {
    origin: { body, chat, sourcePaths: notes.places, fields: FIELDS, imageType: 'image' },
    headers: notes.ignored.header(),
  };
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
