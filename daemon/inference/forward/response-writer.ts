import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import type { ErrorEnvelope, GatewayError } from '../../contract/errors.ts';
import { isEventStream, isOnlyComments, SSE_HEADERS, sseComment, sseData } from '../../lib/net/sse.ts';
import type { Usage } from '../../telemetry/request-tracker.ts';
import type { CallerResponse } from '../caller.ts';
import type { ExchangeEnd } from './exchange.ts';
import { endedEarly } from './failure.ts';
import { callerHeaders } from './headers.ts';
import { errorInEvents } from './in-band-error.ts';
import { speedOf } from './speed.ts';
import { FINISH_LENGTH, hasFinishReason, isComplete } from './stream-end.ts';
import { NO_USAGE, UsageTap } from './usage-tap.ts';

/** Bytes that may wait for the caller before keep-alive comments are left out. */
const COMMENT_BACKLOG = 16 * 1024;

export interface ResponseWriterOptions {
  readonly res: CallerResponse;
  /** The first byte of the body is on its way; comments of an event stream, which say nothing, are none. */
  onFirstByte(): void;
  /** A caller that takes nothing for this long is cut, in milliseconds. */
  readonly stallMs: number;
  /** An event stream that is whole says so: one that ends without a word is told as broken off. */
  readonly hasEndMarker?: boolean | undefined;
  /** Told of every chunk of the body, where somebody wants to see it. */
  readonly onChunk?: ((chunk: Buffer) => void) | undefined;
}

/**
 * The answer to one caller. Bytes pass untouched and as they come; a slow caller is waited for. After the head is out a
 * failure becomes an error event (event streams) or a cut connection (everything else), never a clean end.
 */
export class ResponseWriter {
  readonly #options: ResponseWriterOptions;
  readonly #res: CallerResponse;
  readonly #tap = new UsageTap((gone, next) => this.#onDropped(gone, next));
  #eventStream = false;
  /** A finish has been told by what is kept no more. */
  #finishSeen = false;
  #stall: NodeJS.Timeout | null = null;
  #earlyEnd: GatewayError | null = null;
  headSent = false;
  status = 0;
  /** `performance.now()` of the first byte and of the end of the body; 0 before. */
  firstByteAt = 0;
  endedAt = 0;

  constructor(options: ResponseWriterOptions) {
    this.#options = options;
    this.#res = options.res;
  }

  /** Whether the answer is an event stream that has begun. */
  get eventStream(): boolean {
    return this.#eventStream;
  }

  /** Writes the head that an engine gave, reduced to what may pass; an event stream is flushed at once. */
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

  /** Starts an event stream of our own while the engine is not ready. */
  beginWaiting(): void {
    if (this.headSent) return;
    this.#eventStream = true;
    this.#tap.markStream();
    this.#head(200, SSE_HEADERS);
    this.comment('loading');
  }

  /** An SSE comment, unless the caller does not even take what is there. */
  comment(text: string): void {
    if (this.#res.writableLength < COMMENT_BACKLOG && !this.#res.destroyed) this.#res.write(sseComment(text));
  }

  /** Passes a chunk on; false asks the engine to wait until `whenDrained` calls back. */
  write(chunk: Buffer): boolean {
    this.#inspect(chunk);
    return this.#res.write(chunk);
  }

  /** Calls `resume` when the caller has taken what was written; cuts it when it takes too long. */
  whenDrained(resume: () => void): void {
    if (this.#stall) return;
    this.#stall = setTimeout(() => this.#res.destroy(), this.#options.stallMs);
    this.#res.once('drain', () => {
      this.dispose();
      resume();
    });
  }

  /** Ends the body, with `last` as its last bytes; the end of an answer that is not whole is a failure. */
  finish(last?: Buffer): void {
    if (last) this.#inspect(last);
    if (this.#endsEarly()) {
      if (last) this.#res.write(last);
      this.#earlyEnd = endedEarly();
      this.fail(this.#earlyEnd);
      return;
    }
    this.endedAt = performance.now();
    this.#res.end(last);
  }

  /** Ends an answer that has begun with a failure. */
  fail(error: GatewayError): void {
    this.#res.onInBandError?.(error);
    this.failWith(error.envelope('openai'));
  }

  /** The same with an error body as it came from an engine. */
  failWith(envelope: ErrorEnvelope | object): void {
    this.endedAt = performance.now();
    if (!this.#eventStream) this.#res.destroy();
    else this.#res.end(`${this.#atEventEnd() ? '' : '\n\n'}${sseData(envelope)}`);
  }

  /** Ends whatever still waits for the caller. */
  dispose(): void {
    if (this.#stall) clearTimeout(this.#stall);
    this.#stall = null;
  }

  /** How it ended, after an exchange that ended so: an event stream may have told a failure among its last events. */
  outcomeOf(end: ExchangeEnd): ExchangeEnd {
    return end ?? this.#earlyEnd ?? (this.#eventStream ? errorInEvents(this.#tap.held()) : null);
  }

  /** What the request log says of the end; an answer that was made anew for the caller may have become a failure. */
  logResult(end: ExchangeEnd): { readonly status: number; readonly error: string | null } {
    const failure = this.#res.failure ?? null;
    const status = failure === null || this.#eventStream ? this.status : failure.status;
    return { status, error: (end ?? failure)?.code ?? null };
  }

  /** Token counts that the engine told in the body. */
  usage() {
    return this.#tap.read();
  }

  /** The same; the speed is measured from `sentAt` or the first byte on when it told tokens but no speed. */
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

  /** Whether the answer is one that tells its end. An error that an engine gives a stream's type is whole as it is. */
  get #hasEndMarker(): boolean {
    return this.#eventStream && this.#options.hasEndMarker === true && this.status < 300;
  }

  #onDropped(gone: Buffer, next: Buffer): void {
    if (this.#finishSeen || !this.#hasEndMarker) return;
    this.#finishSeen = hasFinishReason(gone.toString('latin1') + next.toString('latin1', 0, FINISH_LENGTH));
  }

  #endsEarly(): boolean {
    if (!this.#hasEndMarker) return false;
    const end = this.#tap.held();
    return !isComplete(end.toString('latin1'), this.#finishSeen) && errorInEvents(end) === null;
  }

  /** Whether the bytes written so far end an event, so that the next one is read as one of its own. */
  #atEventEnd(): boolean {
    const tail = this.#tap.tail().subarray(-4).toString('latin1');
    return tail === '' || tail.endsWith('\n\n') || tail.endsWith('\r\n\r\n') || tail.endsWith('\r\r');
  }
}
