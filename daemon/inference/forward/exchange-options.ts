import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../contract/errors.ts';
import type { EngineFailure, Verdict } from './engine-error.ts';
import type { InBandError } from './in-band-error.ts';

/**
 * How an exchange ended: null for a complete response, else the failure that the caller received, in our
 * words or the engine's.
 */
export type ExchangeEnd = GatewayError | InBandError | null;

/** The destination of an engine's response. */
export interface Sink {
  readonly headSent: boolean;
  begin(status: number, engine: IncomingHttpHeaders): void;
  /** Applies backpressure: returns false when the sender must wait until `whenDrained` calls back. */
  write(chunk: Buffer): boolean;
  whenDrained(resume: () => void): void;
  finish(last?: Buffer): void;
  fail(error: GatewayError): void;
  failWith(envelope: object): void;
  /** Counts bytes of the response that the caller does not receive. */
  measure?(bytes: Buffer): void;
}

/** How a chat or completion is sent to the caller, whatever form the engine answers in. */
export interface Framing {
  /** The caller requested a stream. */
  readonly stream: boolean;
  /** The gateway requested the usage event of the stream, the caller did not. */
  readonly removesUsage: boolean;
  /** The requested number of choices. */
  readonly choices: number;
  /** Called when a complete answer has fewer choices, before its head is sent. */
  onFewerChoices?(): void;
  /** Completes an error of the engine for the API of the caller. */
  errorFor(error: Json): Json;
}

type Json = Record<string, unknown>;

export interface ExchangeOptions {
  readonly sink: Sink;
  /** Interprets a non-2xx response; docs/spec/contract.md#engine-errors unless a route has its own rule. */
  judge?(failure: EngineFailure): Verdict;
  /** Set for chats and completions; any other response keeps the form of the engine. */
  readonly framing?: Framing | undefined;
  /** Converts a complete response to the events of a stream that has started; null when it cannot. */
  asEvents?(bytes: Buffer): string | null;
  /**
   * Headers that the gateway adds for this engine. An error may repeat a credential from them, which must not
   * reach the caller.
   */
  readonly ownHeaders?: Readonly<Record<string, string>>;
  /** The target is an upstream: even a successful response must not repeat a credential. */
  readonly isUpstream?: boolean;
  /** Returns the error for a complete response without any sound; set for speech. */
  soundless?: (() => GatewayError) | undefined;
  /** Called with status and headers when a response begins. */
  onBegin?(status: number, headers: IncomingHttpHeaders): void;
  /** Called when bytes of the response arrive. */
  onData?(): void;
}

/** Receives the end of an exchange, exactly once. */
export interface ExchangeListener {
  /** The exchange is over. */
  done(end: ExchangeEnd): void;
  /** It failed before any byte of the answer went to the sink. The owner reports the failure. */
  refused(error: GatewayError): void;
  /** The connection failed before any byte of a response arrived. */
  unanswered(error: Error): void;
}
