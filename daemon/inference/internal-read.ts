import { GatewayError, isErrorCode } from '../contract/errors.ts';
import { streamEvents } from '../contract/event-stream.ts';
import { BadResponseError } from '../upstreams/query-upstream.ts';
import { engineEvents } from './engine-events.ts';
import { endedEarly } from './forward/failure.ts';
import { retryHints } from './forward/retry-hints.ts';
import { isComplete } from './forward/stream-end.ts';
import type { InternalReply } from './internal.ts';

/** Maximum bytes of an error that are read. */
const MAX_ERROR = 64 * 1024;

type Json = Record<string, unknown>;

/**
 * Returns the whole body of a successful reply. Throws the error of the reply with its status,
 * `upstream.error` for a body above `most` bytes, and whatever the body throws.
 */
export async function wholeBytes(answer: InternalReply, most: number): Promise<Buffer> {
  if (answer.status >= 300) throw await refusalOf(answer);
  return collect(answer, most);
}

/** Like `wholeBytes`, for a body that is one JSON value. Throws `upstream.error` for invalid JSON. */
export async function wholeJson(answer: InternalReply, most: number): Promise<unknown> {
  const bytes = await wholeBytes(answer, most);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new GatewayError('upstream.error', { message: 'The engine did not answer in JSON.', cause });
  }
}

/**
 * Yields the events of a streamed reply as JSON values, without the closing `[DONE]`. Throws the error of the
 * reply, from its head or an event, and whatever the body throws. Throws `upstream.error` for a stream
 * without an end marker, as every reply is that is not an event stream.
 */
export async function* eventsOf(answer: InternalReply): AsyncGenerator<Json> {
  if (answer.status >= 300) throw await refusalOf(answer);
  let ended = false;
  for await (const data of eventData(answer)) {
    ended ||= isComplete(`data: ${data}`);
    if (data === '' || data === '[DONE]') continue;
    const event = parsed(data);
    if (event === undefined)
      throw new GatewayError('upstream.error', { message: 'An event is not valid JSON.' });
    if (objectOf(event.error)) throw answer.inBandError() ?? errorOf(event, null);
    yield event;
  }
  if (!ended) throw endedEarly();
}

/** Yields the data of each event, including a last one without a blank line. */
async function* eventData(answer: InternalReply): AsyncGenerator<string> {
  const parser = engineEvents(() => tooLong(answer, 'An event is too long.'));
  for await (const { data } of streamEvents(answer.body, parser)) yield data.trim();
  for (const block of parser.end()) if ('data' in block) yield block.data.trim();
}

/** Returns the error of a reply with a failure status. */
export async function refusalOf(answer: InternalReply): Promise<GatewayError> {
  const bytes = await collect(answer, MAX_ERROR);
  const { code, message, status, options } = errorOf(parsed(bytes.toString('utf8')), answer.status);
  return new GatewayError(code, { ...options, message, status, headers: retryHints(answer.headers) });
}

async function collect(answer: InternalReply, most: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of answer.body) {
    length += part.length;
    if (length > most) throw tooLong(answer, 'The answer is too long.');
    parts.push(part);
  }
  return Buffer.concat(parts, length);
}

/** Ends the call, and records the error in its log. */
function tooLong(answer: InternalReply, message: string): GatewayError {
  const error = new GatewayError('upstream.error', { message, cause: new BadResponseError(message) });
  answer.abort(error);
  return error;
}

/** Returns the reported error with its status, message and code. A foreign code goes into `details.code`. */
function errorOf(body: Json | undefined, status: number | null): GatewayError {
  const error = objectOf(body?.error);
  const message = typeof error?.message === 'string' ? error.message : undefined;
  const code = typeof error?.code === 'string' ? error.code : null;
  const param = typeof error?.param === 'string' ? error.param : undefined;
  const details = objectOf(error?.details);
  if (isErrorCode(code))
    return new GatewayError(code, { message, param, details, ...(status && { status }) });
  return new GatewayError('upstream.error', {
    message,
    param,
    details: code === null ? details : { ...details, code },
    ...(status && { status }),
  });
}

const objectOf = (value: unknown): Json | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;

function parsed(text: string): Json | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
