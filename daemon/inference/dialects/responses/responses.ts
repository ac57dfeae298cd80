import { openaiErrorType } from '../../../contract/errors.ts';
import { sseComment } from '../../../lib/net/sse.ts';
import { wholePieces } from '../chat-pieces.ts';
import { CHAT_PATH, type Dialect, type EventEncoder, type Responder } from '../dialect.ts';
import type { SourcePaths } from '../error-paths.ts';
import { encodeEvents } from '../event-encoder.ts';
import type { Json } from '../json.ts';
import { newId } from '../new-id.ts';
import { type ResponsesRequest, readResponses } from './request.ts';
import type { ResponseHead } from './response-object.ts';
import { ResponseStream } from './response-stream.ts';

/** Fields of a chat and their names in the Responses API. */
const FIELDS = {
  messages: 'input',
  max_tokens: 'max_output_tokens',
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
  enable_thinking: 'reasoning.effort',
  verbosity: 'text.verbosity',
  response_format: 'text.format',
  'response_format.json_schema.schema': 'text.format.schema',
} as const;

/** The Responses API of OpenAI, without storage: one request, one response. */
export const responses: Dialect = (bytes) => {
  const sources: SourcePaths = new WeakMap();
  const request = readResponses(bytes, sources);
  const { ignored } = request.tools;
  const headers: Record<string, string> =
    ignored.length === 0 ? {} : { 'x-svc-ignored-tools': headerList(ignored) };
  return {
    path: CHAT_PATH,
    task: 'chat',
    origin: {
      body: bytes,
      chat: request.chat,
      sourcePaths: sources,
      fields: FIELDS,
      imageType: 'input_image',
    },
    headers,
    events: (by) => responseEvents(request, headOf(by)),
    whole: (chat, by) => wholeResponse(request, headOf(by), chat),
    errorType: openaiErrorType,
    envelope: (body) => body,
  };
};

const headerList = (names: readonly string[]): string =>
  names
    .join(', ')
    .slice(0, 200)
    .replace(/[^\x20-\x7e]/g, '?');

const headOf = (by: Responder): ResponseHead => ({
  id: newId('resp'),
  created: Math.floor(Date.now() / 1000),
  ...by,
});

/** Runs the steps of a stream and returns the last object. */
function wholeResponse({ body, tools }: ResponsesRequest, head: ResponseHead, chat: Json): Json {
  const stream = new ResponseStream(head, body, tools.known, () => {});
  for (const piece of wholePieces(chat, head.keep)) stream.add(piece);
  return stream.end();
}

function responseEvents({ body, tools }: ResponsesRequest, head: ResponseHead): EventEncoder {
  return encodeEvents(
    {
      make: (emit) => new ResponseStream(head, body, tools.known, (event) => emit(String(event.type), event)),
      idle: () => sseComment('waiting'),
      fail: (stream, { code, message }) =>
        stream.fail({
          code: typeof code === 'string' ? code : 'upstream.error',
          message: typeof message === 'string' ? message : 'The engine failed.',
        }),
    },
    head.keep,
  );
}
