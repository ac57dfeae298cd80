import { headerList } from '../../../contract/ignored.ts';
import { sseComment } from '../../../lib/net/sse.ts';
import { wholePieces } from '../chat-pieces.ts';
import { CHAT_PATH, type Dialect, type EventEncoder, type Responder } from '../dialect.ts';
import type { SourcePaths } from '../error-paths.ts';
import { encodeEvents } from '../event-encoder.ts';
import { asList, asObject, type Json } from '../json.ts';
import { newId } from '../new-id.ts';
import { keepErrorType } from '../normalize-error.ts';
import { type ResponsesRequest, readResponses } from './request.ts';
import type { CallerMemory } from './response-memory.ts';
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
  'function.name': 'name',
  'function.description': 'description',
  'function.parameters': 'parameters',
} as const;

/** The Responses API of OpenAI. Recent responses are in memory only. */
export const responses: Dialect = (bytes, memory) => {
  const sources: SourcePaths = new WeakMap();
  const request = readResponses(bytes, sources, memory);
  const { ignored } = request.tools;
  const headers: Record<string, string> = {
    ...(ignored.length === 0 ? {} : { 'x-svc-ignored-tools': headerList(ignored) }),
    ...request.ignored.header(),
  };
  const store = (response: Json): Json => {
    storeResponse(request, response, memory);
    return response;
  };
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
    events: (by) => responseEvents(request, headOf(by), store),
    whole: (chat, by) => store(wholeResponse(request, headOf(by), chat)),
    errorType: keepErrorType,
    envelope: (body) => body,
  };
};

/** A caller who sends `store: false` will not refer to the response. */
function storeResponse({ body }: ResponsesRequest, response: Json, memory: CallerMemory | null): void {
  if (memory === null || body.store === false) return;
  const output = asList(response.output).flatMap((item): Json[] => {
    const object = asObject(item);
    return object === undefined ? [] : [object];
  });
  const previous = body.previous_response_id ?? null;
  memory.store({ id: String(response.id), previous, input: body.input.own, output });
}

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

const LAST_EVENTS: ReadonlySet<unknown> = new Set(['response.completed', 'response.incomplete']);

function responseEvents(
  { body, tools }: ResponsesRequest,
  head: ResponseHead,
  store: (response: Json) => void,
): EventEncoder {
  return encodeEvents(
    {
      make: (emit) =>
        new ResponseStream(head, body, tools.known, (event) => {
          if (LAST_EVENTS.has(event.type)) store(asObject(event.response) ?? {});
          emit(String(event.type), event);
        }),
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
