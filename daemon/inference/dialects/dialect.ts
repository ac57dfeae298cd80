import type { KeepExtra } from './chat-pieces.ts';
import type { Origin } from './error-paths.ts';
import type { Json } from './json.ts';

/** Makes the events of one streamed answer; every method answers the text that goes out. */
export interface EventEncoder {
  /** The chat has told how it ended. */
  readonly finished: boolean;
  /** What stands before anything that the engine says. */
  open(): string;
  chunk(chat: Json): string;
  /** Nothing else has come for a while. */
  idle(): string;
  /** The answer is whole. */
  end(): string;
  /** It broke off with this error object of our envelope. */
  fail(error: Json): string;
}

/** Who answers a chat. */
export interface Responder {
  /** The id of its model. */
  readonly model: string;
  /** The upstream; null for a slot of ours. */
  readonly upstream: string | null;
  /** Takes what it says with a call beside name and arguments. */
  readonly keep?: KeepExtra;
}

/** One request of another API, as a chat and back. */
export interface Translation {
  /** How its chat was made, by which errors about that become errors about the request. */
  readonly origin: Origin;
  /** The route that serves it. */
  readonly path: string;
  readonly task: 'chat' | 'count';
  /** Headers of the answer beside those of every chat. */
  readonly headers: Readonly<Record<string, string>>;
  events(by: Responder): EventEncoder;
  /** The whole answer. Throws a GatewayError for one that cannot be told. */
  whole(chat: Json, by: Responder): Json;
  /** This API's word for a failure of this status, where the engine has none. */
  errorType(status: number): string;
  /** An error envelope as callers of this API read it. */
  envelope(body: Json): Json;
}

/** Reads a request. Throws `request.invalid` naming each field at fault, or `request.invalid_json`. */
export type Dialect = (body: Buffer) => Translation;

export const CHAT_PATH = '/v1/chat/completions';
