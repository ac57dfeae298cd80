import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { type ErrorEnvelope, GatewayError } from '../../contract/errors.ts';
import { isEventStream, isOnlyComments, SSE_HEADERS, sseComment, sseData } from '../../lib/net/sse.ts';
import type { RequestEnd, Usage } from '../../telemetry/request-tracker.ts';
import type { CallerResponse } from '../caller.ts';
import type { ExchangeEnd } from './exchange-options.ts';
import { endedEarly } from './failure.ts';
import { failureText } from './failure-text.ts';
import { callerHeaders } from './headers.ts';
import { errorInEvents } from './in-band-error.ts';
import { type NamedTarget, nameTarget } from './name-target.ts';
import { speedOf } from './speed.ts';
import { FINISH_LENGTH, hasFinishReason, isComplete } from './stream-end.ts';
import { NO_USAGE, UsageTap } from './usage-tap.ts';

/** Bytes that may wait for the caller before keep-alive comments are skipped. */
const COMMENT_BACKLOG = 16 * 1024;
/** Silence after which a streaming caller receives a comment (docs/spec/contract.md#stream-keepalive). */
export const KEEP_ALIVE_MS = 10_000;
/** Minimum time that an engine has to answer before the status of a stream is sent without it. */
const MIN_STATUS_MS = 3_000;

export interface ResponseWriterOptions {
  readonly res: CallerResponse;
  /** Called before the first byte of the body is sent. Comments of an event stream do not count. */
  onFirstByte(): void;
  /** Time in milliseconds after which a caller that reads nothing is disconnected. */
  readonly stallMs: number;
  /** A complete event stream has an end marker: one that ends without it is reported as incomplete. */
  readonly hasEndMarker?: boolean | undefined;
  /** Called for every chunk of the body. */
  readonly onChunk?: ((chunk: Buffer) => void) | undefined;
}

/**
 * Writes the response to one caller. Relays bytes unchanged and with backpressure. After the head is sent, a
 * failure becomes an error event (event streams) or a closed connection (everything else), never a clean end.
 */
export class ResponseWriter {
  readonly #options: ResponseWriterOptions;
  readonly #res: CallerResponse;
  readonly #tap = new UsageTap((dropped, next) => this.#onDropped(dropped, next));
  #eventStream = false;
  /** A finish reason was found in bytes that are no longer held. */
  #hasFinishReason = false;
  #stall: NodeJS.Timeout | null = null;
  #keepAlive: NodeJS.Timeout | null = null;
  #lastWriteAt = 0;
  #earlyEnd: GatewayError | null = null;
  /** The target of the request, which failures name. */
  target: NamedTarget = { slot: null, upstream: null };
  headSent = false;
  status = 0;
  /** `performance.now()` of the first byte and of the end of the body; 0 before. */
  firstByteAt = 0;
  endedAt = 0;

  constructor(options: ResponseWriterOptions) {
    this.#options = options;
    this.#res = options.res;
  }

  /** Whether the response is an event stream that has started. */
  get eventStream(): boolean {
    return this.#eventStream;
  }

  /**
   * Writes the head of an engine's response, reduced to the forwarded headers. Flushes the head of an event
   * stream at once.
   */
  begin(status: number, engine: IncomingHttpHeaders): void {
    if (this.headSent) return;
    this.#eventStream = isEventStream(engine['content-type']);
    if (!this.#eventStream) {
      this.#head(status, callerHeaders(engine));
      return;
    }
    this.#tap.markStream();
    this.#head(status, SSE_HEADERS);
    this.#res.flushHeaders();
  }

  /** Starts an event stream while the engine is not ready yet. `reason` is the text of the first comment. */
  beginWaiting(reason = 'loading'): void {
    if (this.headSent) return;
    this.#eventStream = true;
    this.#tap.markStream();
    this.#head(200, SSE_HEADERS);
    this.comment(reason);
  }

  /**
   * Keeps the connection of a streaming caller alive: after 10 s without a byte, starts the event stream or
   * writes a comment. Ends with the response. `silentSince` is the `performance.now()` of the last byte, or
   * of the request.
   */
  startKeepAlive(silentSince: number): void {
    if (this.#keepAlive) return;
    this.#lastWriteAt ||= silentSince;
    this.#armKeepAlive(MIN_STATUS_MS);
  }

  #armKeepAlive(minMs: number): void {
    const dueMs = this.#sentAt() + KEEP_ALIVE_MS - performance.now();
    this.#keepAlive = setTimeout(() => this.#onSilence(), Math.max(minMs, dueMs));
  }

  /** The time of the last bytes for the caller. A translated stream may hold what was written here. */
  #sentAt(): number {
    return this.#res.lastWriteAt || this.#lastWriteAt;
  }

  #onSilence(): void {
    this.#keepAlive = null;
    if (this.endedAt > 0 || this.#res.destroyed || (this.headSent && !this.#eventStream)) return;
    if (performance.now() - this.#sentAt() >= KEEP_ALIVE_MS) {
      if (!this.headSent) this.beginWaiting('waiting');
      else if (this.#atEventEnd()) this.comment('waiting');
    }
    this.#armKeepAlive(1_000);
  }

  #stopKeepAlive(): void {
    if (this.#keepAlive) clearTimeout(this.#keepAlive);
    this.#keepAlive = null;
  }

  /** Writes an SSE comment, unless the caller is too far behind. */
  comment(text: string): void {
    this.#lastWriteAt = performance.now();
    if (this.#res.writableLength < COMMENT_BACKLOG && !this.#res.destroyed) this.#res.write(sseComment(text));
  }

  /** Relays a chunk. Returns false when the engine must wait until `whenDrained` calls back. */
  write(chunk: Buffer): boolean {
    this.#inspect(chunk);
    this.#lastWriteAt = performance.now();
    return this.#res.write(chunk);
  }

  /** Counts bytes that the caller does not receive: they may contain the token counts. */
  measure(bytes: Buffer): void {
    this.#tap.push(bytes);
  }

  /** Calls `resume` when the caller has read what was written. Disconnects a caller that takes too long. */
  whenDrained(resume: () => void): void {
    if (this.#stall) return;
    this.#stall = setTimeout(() => this.#res.destroy(), this.#options.stallMs);
    this.#res.once('drain', () => {
      this.#clearStall();
      resume();
    });
  }

  /** Ends the body with `last` as its last bytes. An incomplete response ends with a failure. */
  finish(last?: Buffer): void {
    if (last) this.#inspect(last);
    if (this.#endsEarly()) {
      if (last) this.#res.write(last);
      this.#earlyEnd = nameTarget(endedEarly(), this.target);
      this.fail(this.#earlyEnd);
      return;
    }
    this.#stopKeepAlive();
    this.endedAt = performance.now();
    this.#res.end(last);
  }

  /** Ends a response that has started with a failure. */
  fail(error: GatewayError): void {
    const named = nameTarget(error, this.target);
    this.#res.onInBandError?.(named);
    this.failWith(named.envelope('openai'));
  }

  /** Like `fail`, with the error body of an engine. */
  failWith(envelope: ErrorEnvelope | object): void {
    this.#stopKeepAlive();
    this.endedAt = performance.now();
    if (!this.#eventStream) this.#res.destroy();
    else this.#res.end(`${this.#atEventEnd() ? '' : '\n\n'}${sseData(envelope)}`);
  }

  /** Stops all timers. */
  dispose(): void {
    this.#clearStall();
    this.#stopKeepAlive();
  }

  #clearStall(): void {
    if (this.#stall) clearTimeout(this.#stall);
    this.#stall = null;
  }

  /**
   * Returns how the response ended, given how the exchange ended. An event stream may report a failure in its
   * last events.
   */
  outcomeOf(end: ExchangeEnd): ExchangeEnd {
    if (end instanceof GatewayError) return nameTarget(end, this.target);
    return end ?? this.#earlyEnd ?? (this.#eventStream ? errorInEvents(this.#tap.held()) : null);
  }

  /**
   * Returns status and error for the request log. A response that was translated for the caller may have
   * become a failure.
   */
  logResult(end: ExchangeEnd): Pick<RequestEnd, 'status' | 'error' | 'failure'> {
    const translation = this.#res.failure ?? null;
    const status = translation === null || this.#eventStream ? this.status : translation.status;
    const failure = end ?? translation;
    return { status, error: failure?.code ?? null, failure: failureText(failure) };
  }

  /** Returns the token counts that the engine reported in the body. */
  usage() {
    return this.#tap.read();
  }

  /**
   * Like `usage`. Measures the speed from `sentAt` or the first byte when the engine reported tokens but no
   * speed.
   */
  measuredUsage(sentAt: number): Usage {
    if (this.firstByteAt === 0) return NO_USAGE;
    const usage = this.usage();
    if (usage.tokensPerSecond !== null || usage.completionTokens === null) return usage;
    const seconds = (this.endedAt - (this.eventStream ? this.firstByteAt : sentAt)) / 1000;
    if (seconds <= 0) return usage;
    return { ...usage, tokensPerSecond: speedOf(usage.completionTokens, usage.completionTokens / seconds) };
  }

  #head(status: number, headers: OutgoingHttpHeaders): void {
    this.headSent = true;
    this.status = status;
    this.#res.writeHead(status, headers);
  }

  #inspect(chunk: Buffer): void {
    if (this.firstByteAt === 0 && !(this.#eventStream && isOnlyComments(chunk))) {
      this.firstByteAt = performance.now();
      this.#options.onFirstByte();
    }
    this.#tap.push(chunk);
    this.#options.onChunk?.(chunk);
  }

  /** Whether the response has an end marker. An error with the type of a stream is complete without one. */
  get #hasEndMarker(): boolean {
    return this.#eventStream && this.#options.hasEndMarker === true && this.status < 300;
  }

  #onDropped(dropped: Buffer, next: Buffer): void {
    if (this.#hasFinishReason || !this.#hasEndMarker) return;
    this.#hasFinishReason = hasFinishReason(
      dropped.toString('latin1') + next.toString('latin1', 0, FINISH_LENGTH),
    );
  }

  #endsEarly(): boolean {
    if (!this.#hasEndMarker) return false;
    const end = this.#tap.held();
    return !isComplete(end.toString('latin1'), this.#hasFinishReason) && errorInEvents(end) === null;
  }

  /** Whether the bytes written so far end an event, so that the next event is parsed separately. */
  #atEventEnd(): boolean {
    const tail = this.#tap.tail().subarray(-4).toString('latin1');
    return tail === '' || tail.endsWith('\n\n') || tail.endsWith('\r\n\r\n') || tail.endsWith('\r\r');
  }
}
