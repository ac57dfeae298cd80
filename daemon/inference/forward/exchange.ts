import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../contract/errors.ts';
import type { OutboundController, OutboundHandler } from '../../lib/net/outbound.ts';
import { isEventStream } from '../../lib/net/sse.ts';
import { AbortScan } from './abort-scan.ts';
import {
  type EngineFailure,
  errorInside200,
  judge,
  MAX_ERROR_BYTES,
  startsLikeError,
  type Verdict,
} from './engine-error.ts';
import { answerAborted, brokenResponse, lineTooLong } from './failure.ts';
import { errorInBody, type InBandError } from './in-band-error.ts';
import { isLineBased, LineCap } from './line-cap.ts';
import { credentialsOf, redactCredentials } from './own-credential.ts';
import { StreamRedactor } from './redact-stream.ts';
import { retryHints } from './retry-hints.ts';

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
}

export interface ExchangeOptions {
  readonly sink: Sink;
  /** Interprets a non-2xx response; docs/spec/contract.md#engine-errors unless a route has its own rule. */
  judge?(failure: EngineFailure): Verdict;
  /** Converts a complete response to the events of a stream that has started; null when it cannot. */
  asEvents?(bytes: Buffer): string | null;
  /**
   * Headers that the gateway adds for this engine. An error may repeat a credential from them, which must not
   * reach the caller.
   */
  readonly ownHeaders?: Readonly<Record<string, string>>;
  /** The target is an upstream: even a successful response must not repeat a credential. */
  readonly isUpstream?: boolean;
  /** Its answers have finish reasons, which may say that an answer is not complete. */
  readonly hasFinishReasons?: boolean | undefined;
  /** Called with the status when a response begins. */
  onBegin?(status: number): void;
  /** Called when bytes of the response arrive. */
  onData?(): void;
}

/** Receives the end of an exchange, exactly once. */
export interface ExchangeListener {
  /** The exchange is over. A failure before the head calls `refused` instead. */
  done(end: ExchangeEnd): void;
  refused(error: GatewayError): void;
  /** The connection failed before any byte of a response arrived. */
  unanswered(error: Error): void;
}

/**
 * One request on one connection, as undici reports it. `head` waits for the status, `peek` checks whether a
 * JSON response starts like an error, `whole` holds a small complete response, `relay` passes bytes on,
 * `collect` reads a failure, `late` reads a complete response for a stream that has started.
 */
type Mode = 'head' | 'peek' | 'whole' | 'relay' | 'collect' | 'late' | 'over';

const EMPTY = Buffer.alloc(0);
/** Maximum bytes of a complete response that is sent as events. */
const MAX_LATE_BYTES = 16 * 1024 * 1024;

export class Exchange implements OutboundHandler {
  readonly #options: ExchangeOptions;
  readonly #listener: ExchangeListener;
  readonly #sink: Sink;
  readonly #redactor: StreamRedactor | null;
  #lines: LineCap | null = null;
  readonly #aborts: AbortScan | null;
  #mode: Mode = 'head';
  #controller: OutboundController | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;

  constructor(options: ExchangeOptions, owner: ExchangeListener) {
    this.#options = options;
    this.#listener = owner;
    this.#sink = options.sink;
    this.#aborts = options.hasFinishReasons ? new AbortScan() : null;
    const secrets = options.isUpstream ? credentialsOf(options.ownHeaders ?? {}) : [];
    this.#redactor = secrets.length > 0 ? new StreamRedactor(secrets) : null;
  }

  /** Stops immediately: closes the connection and ignores everything that follows. */
  abort(): void {
    this.#mode = 'over';
    this.#buffered = [];
    this.#controller?.abort(new Error('the call has ended'));
  }

  onRequestStart(controller: OutboundController): void {
    this.#controller = controller;
    if (this.#mode === 'over') controller.abort(new Error('the call has ended'));
  }

  onResponseStart(_: OutboundController, status: number, headers: IncomingHttpHeaders): void {
    if (this.#mode !== 'head' || status < 200) return;
    this.#status = status;
    this.#headers = headers;
    this.#options.onBegin?.(status);
    const type = headers['content-type'];
    const stream = isEventStream(type);
    const late = this.#sink.headSent && !stream;
    if (late && status < 300 && this.#options.asEvents) this.#mode = 'late';
    else if (status >= 300 || late) this.#mode = 'collect';
    else if (!stream && type !== undefined && /json/i.test(type)) this.#mode = 'peek';
    else this.#begin();
  }

  onResponseData(controller: OutboundController, chunk: Buffer): void {
    this.#options.onData?.();
    if (this.#mode === 'relay') this.#relay(controller, chunk);
    else if (this.#mode === 'collect') this.#collect(chunk, MAX_ERROR_BYTES);
    else if (this.#mode === 'late') this.#collect(chunk, MAX_LATE_BYTES);
    else if (this.#mode === 'peek') this.#peek(controller, chunk);
  }

  onResponseEnd(): void {
    if (this.#mode === 'collect') this.#conclude(false);
    else if (this.#mode === 'late') this.#sendLateEvents();
    else if (this.#mode !== 'over') this.#finish();
  }

  onResponseError(_: OutboundController, error: Error): void {
    if (this.#mode === 'over') return;
    const unanswered = this.#mode === 'head';
    this.#mode = 'over';
    if (unanswered) this.#listener.unanswered(error);
    else this.#fail(brokenResponse(error));
  }

  #finish(): void {
    if (this.#mode !== 'relay') {
      if (this.#bufferedBytes > 0 && this.#abortAt(Buffer.concat(this.#buffered)) !== null) {
        this.#mode = 'over';
        this.#fail(answerAborted());
        return;
      }
      this.#begin();
    }
    this.#mode = 'over';
    this.#sink.finish(this.#lastBytes());
    this.#listener.done(null);
  }

  #lastBytes(): Buffer | undefined {
    const held = this.#bufferedBytes > 0 ? Buffer.concat(this.#buffered) : undefined;
    if (!this.#redactor) return held;
    const last = Buffer.concat([this.#redactor.push(held ?? Buffer.alloc(0)), this.#redactor.end()]);
    return last.length > 0 ? last : undefined;
  }

  #begin(): void {
    this.#sink.begin(this.#status, this.#headers);
    if (isLineBased(this.#headers['content-type'])) this.#lines = new LineCap();
    this.#mode = 'relay';
  }

  #relay(controller: OutboundController, chunk: Buffer): void {
    if (this.#lines?.accepts(chunk) === false) {
      this.abort();
      this.#fail(lineTooLong());
      return;
    }
    const cut = this.#abortAt(chunk);
    if (cut !== null) {
      this.#breakOff(chunk.subarray(0, cut));
      return;
    }
    const bytes = this.#redactor ? this.#redactor.push(chunk) : chunk;
    if (bytes.length === 0 || this.#sink.write(bytes)) return;
    controller.pause();
    this.#sink.whenDrained(() => controller.resume());
  }

  /** Returns where an incomplete answer ends in these bytes; null when it does not. */
  #abortAt(bytes: Buffer): number | null {
    return this.#aborts === null || this.#isCompressed() ? null : this.#aborts.cutAt(bytes);
  }

  /** Relays the rest of an answer that the engine did not complete. Its last event never reaches the caller. */
  #breakOff(rest: Buffer): void {
    const bytes = this.#redactor && rest.length > 0 ? this.#redactor.push(rest) : rest;
    this.abort();
    if (bytes.length > 0) this.#sink.write(bytes);
    this.#fail(answerAborted());
  }

  #peek(controller: OutboundController, chunk: Buffer): void {
    this.#buffer(chunk);
    const head = this.#buffered.length === 1 ? chunk : Buffer.concat(this.#buffered);
    const error = startsLikeError(head);
    if (error === undefined) return;
    if (error) {
      this.#mode = 'collect';
      if (this.#bufferedBytes > MAX_ERROR_BYTES) this.#conclude(true);
      return;
    }
    if (Number(this.#headers['content-length']) === head.length) {
      this.#mode = 'whole';
      return;
    }
    this.#buffered = [];
    this.#bufferedBytes = 0;
    if (this.#abortAt(head) !== null) {
      this.#breakOff(EMPTY);
      return;
    }
    this.#begin();
    this.#relay(controller, head);
  }

  #collect(chunk: Buffer, most: number): void {
    this.#buffer(chunk);
    if (this.#bufferedBytes > most) this.#conclude(true);
  }

  #sendLateEvents(): void {
    const events = this.#isCompressed()
      ? null
      : (this.#options.asEvents?.(Buffer.concat(this.#buffered)) ?? null);
    if (events === null) {
      this.#conclude(this.#bufferedBytes > MAX_ERROR_BYTES);
      return;
    }
    this.#mode = 'over';
    this.#sink.finish(Buffer.from(events));
    this.#listener.done(null);
  }

  #buffer(chunk: Buffer): void {
    this.#buffered.push(chunk);
    this.#bufferedBytes += chunk.length;
  }

  /** Handles a failure after it has been read, or as much of it as is read. */
  #conclude(truncated: boolean): void {
    const read = this.#isCompressed()
      ? Buffer.alloc(0)
      : Buffer.concat(this.#buffered).subarray(0, MAX_ERROR_BYTES);
    const bytes = redactCredentials(read, credentialsOf(this.#options.ownHeaders ?? {}));
    if (truncated) this.abort();
    this.#mode = 'over';
    const verdict = this.#verdict(bytes, truncated);
    if (verdict.passes) this.#pass(bytes);
    else this.#fail(verdict.error);
  }

  /**
   * Whether the body is compressed although identity was requested. Its content can then be neither read nor
   * redacted.
   */
  #isCompressed(): boolean {
    const coding = this.#headers['content-encoding'];
    return coding !== undefined && coding.trim().toLowerCase() !== 'identity';
  }

  #verdict(bytes: Buffer, truncated: boolean): Verdict {
    if (this.#status < 300) return { passes: false, error: errorInside200(bytes, truncated) };
    const hints = retryHints(this.#headers);
    return (this.#options.judge ?? judge)({ status: this.#status, bytes, truncated, hints });
  }

  /** Relays an error of the engine byte for byte, or as an error event in a stream that has started. */
  #pass(bytes: Buffer): void {
    const body = JSON.parse(bytes.toString('utf8')) as object;
    if (this.#sink.headSent) this.#sink.failWith(body);
    else {
      this.#sink.begin(this.#status, { ...this.#headers, 'content-length': String(bytes.length) });
      this.#sink.finish(bytes);
    }
    this.#listener.done(errorInBody(body, this.#status));
  }

  #fail(error: GatewayError): void {
    if (this.#sink.headSent) {
      this.#sink.fail(error);
      this.#listener.done(error);
    } else this.#listener.refused(error);
  }
}
