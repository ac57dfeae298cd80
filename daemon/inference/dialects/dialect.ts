import type { KeepExtra } from './call-fragments.ts';
import type { Origin } from './error-paths.ts';
import type { Json } from './json.ts';
import type { CallerMemory } from './responses/response-memory.ts';

/** Encodes the events of one streamed response. Every method returns the text to send. */
export interface EventEncoder {
  /** The chat has reported its finish reason. */
  readonly finished: boolean;
  /** The events before any output of the engine. */
  open(): string;
  chunk(chat: Json): string;
  /** Called when no other event has arrived for a while. */
  idle(): string;
  /** The response is complete. */
  end(): string;
  /** The response failed with this error object of our envelope. */
  fail(error: Json): string;
}

/** The target that answers a chat. */
export interface Responder {
  /** The id of its model. */
  readonly model: string;
  /** The upstream; null for a slot. */
  readonly upstream: string | null;
  /** The slot; null or undefined for an upstream. */
  readonly slot?: string | null;
  /** Stores the fields of its calls in addition to name and arguments. */
  readonly keep?: KeepExtra;
}

/** One request of another API, translated to a chat and back. */
export interface Translation {
  /** How the chat was made, to map errors about it to the original request. */
  readonly origin: Origin;
  /** The route that serves the chat. */
  readonly path: string;
  readonly task: 'chat' | 'count';
  /** Response headers in addition to those of a chat. */
  readonly headers: Readonly<Record<string, string>>;
  events(by: Responder): EventEncoder;
  /** Translates a complete response. Throws a GatewayError for one that it cannot translate. */
  whole(chat: Json, by: Responder): Json;
  /** Returns this API's error type for a status. `engineType` is the type that the engine sent, if any. */
  errorType(status: number, engineType?: unknown): string;
  /** Converts an error envelope to the form of this API. */
  envelope(body: Json): Json;
}

/**
 * Parses a request. Throws `request.invalid` with every field at fault, or `request.invalid_json`. `memory`
 * has recent responses of the caller; null when the caller is unknown.
 */
export type Dialect = (body: Buffer, memory: CallerMemory | null) => Translation;

export const CHAT_PATH = '/v1/chat/completions';
