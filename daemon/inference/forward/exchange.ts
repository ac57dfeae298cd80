import type { IncomingHttpHeaders } from 'node:http';
import type { GatewayError } from '../../contract/errors.ts';
import type { OutboundController, OutboundHandler } from '../../lib/net/outbound.ts';
import { isEventStream } from '../../lib/net/sse.ts';
import {
  type EngineFailure,
  errorInside200,
  judge,
  MAX_ERROR_BYTES,
  startsLikeError,
  type Verdict,
} from './engine-error.ts';
import { brokenAnswer, endlessLine } from './failure.ts';
import { failureInBody, type ToldFailure } from './in-band-error.ts';
import { comesInLines, LineCap } from './line-cap.ts';
import { credentialsOf, withoutCredentials } from './own-credential.ts';
import { Blotter } from './redact-stream.ts';
import { retryHints } from './retry-hints.ts';

/** How an exchange ended: null for a whole answer, else the failure that the caller was told, in our words or the engine's. */
export type ExchangeEnd = GatewayError | ToldFailure | null;

/** Where the answer of an engine goes. */
export interface Sink {
  readonly headSent: boolean;
  begin(status: number, engine: IncomingHttpHeaders): void;
  /** False asks to wait until `whenDrained` calls back. */
  write(chunk: Buffer): boolean;
  whenDrained(resume: () => void): void;
  finish(last?: Buffer): void;
  fail(error: GatewayError): void;
  failWith(envelope: object): void;
}

export interface ExchangeOptions {
  readonly answer: Sink;
  /** The meaning of a non-2xx answer; docs/spec/contract.md#engine-errors unless a route has its own rule. */
  judge?(failure: EngineFailure): Verdict;
  /** A whole answer as the events of a stream that has begun; null for what cannot be told so. */
  asEvents?(bytes: Buffer): string | null;
  /** What we add to a request for this engine: an error may repeat a credential in it but never tells the caller. */
  readonly own?: Readonly<Record<string, string>>;
  /** It is somebody else's: not even a good answer may repeat one of them. */
  readonly foreign?: boolean;
  /** An answer begins, with this status. */
  begun?(status: number): void;
}

/** Who is told how an exchange ends, once. */
export interface ExchangeOwner {
  /** The exchange is over. A failure before the head is `refused` instead. */
  done(end: ExchangeEnd): void;
  refused(error: GatewayError): void;
  /** The connection failed before anything of an answer came. */
  unanswered(error: Error): void;
}

/**
 * One request on one connection, as undici tells it. `head` waits for the status, `peek` looks whether a JSON answer
 * starts like an error, `whole` holds a small answer that is complete, `relay` passes bytes on, `collect` reads a failure,
 * `late` a whole answer for a stream that has begun.
 */
type Mode = 'head' | 'peek' | 'whole' | 'relay' | 'collect' | 'late' | 'over';

/** Most bytes of a whole answer that are told as events. */
const MAX_LATE_BYTES = 16 * 1024 * 1024;

export class Exchange implements OutboundHandler {
  readonly #options: ExchangeOptions;
  readonly #owner: ExchangeOwner;
  readonly #answer: Sink;
  readonly #blotter: Blotter | null;
  #lines: LineCap | null = null;
  #mode: Mode = 'head';
  #controller: OutboundController | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(options: ExchangeOptions, owner: ExchangeOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#answer = options.answer;
    const secrets = options.foreign ? credentialsOf(options.own ?? {}) : [];
    this.#blotter = secrets.length > 0 ? new Blotter(secrets) : null;
  }

  /** Stops now: the connection is closed, nothing more is heard or told. */
  abort(): void {
    this.#mode = 'over';
    this.#held = [];
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
    this.#options.begun?.(status);
    const type = headers['content-type'];
    const stream = isEventStream(type);
    const late = this.#answer.headSent && !stream;
    if (late && status < 300 && this.#options.asEvents) this.#mode = 'late';
    else if (status >= 300 || late) this.#mode = 'collect';
    else if (!stream && type !== undefined && /json/i.test(type)) this.#mode = 'peek';
    else this.#begin();
  }

  onResponseData(controller: OutboundController, chunk: Buffer): void {
    if (this.#mode === 'relay') this.#relay(controller, chunk);
    else if (this.#mode === 'collect') this.#collect(chunk, MAX_ERROR_BYTES);
    else if (this.#mode === 'late') this.#collect(chunk, MAX_LATE_BYTES);
    else if (this.#mode === 'peek') this.#peek(controller, chunk);
  }

  onResponseEnd(): void {
    if (this.#mode === 'collect') this.#conclude(false);
    else if (this.#mode === 'late') this.#tellLate();
    else if (this.#mode !== 'over') this.#finish();
  }

  onResponseError(_: OutboundController, error: Error): void {
    if (this.#mode === 'over') return;
    const unanswered = this.#mode === 'head';
    this.#mode = 'over';
    if (unanswered) this.#owner.unanswered(error);
    else this.#failed(brokenAnswer(error));
  }

  #finish(): void {
    if (this.#mode !== 'relay') this.#begin();
    this.#mode = 'over';
    this.#answer.finish(this.#lastBytes());
    this.#owner.done(null);
  }

  #lastBytes(): Buffer | undefined {
    const held = this.#heldBytes > 0 ? Buffer.concat(this.#held) : undefined;
    if (!this.#blotter) return held;
    const last = Buffer.concat([this.#blotter.push(held ?? Buffer.alloc(0)), this.#blotter.end()]);
    return last.length > 0 ? last : undefined;
  }

  #begin(): void {
    this.#answer.begin(this.#status, this.#headers);
    if (comesInLines(this.#headers['content-type'])) this.#lines = new LineCap();
    this.#mode = 'relay';
  }

  #relay(controller: OutboundController, chunk: Buffer): void {
    if (this.#lines?.takes(chunk) === false) {
      this.abort();
      this.#failed(endlessLine());
      return;
    }
    const bytes = this.#blotter ? this.#blotter.push(chunk) : chunk;
    if (bytes.length === 0 || this.#answer.write(bytes)) return;
    controller.pause();
    this.#answer.whenDrained(() => controller.resume());
  }

  #peek(controller: OutboundController, chunk: Buffer): void {
    this.#hold(chunk);
    const head = this.#held.length === 1 ? chunk : Buffer.concat(this.#held);
    const error = startsLikeError(head);
    if (error === undefined) return;
    if (error) {
      this.#mode = 'collect';
      if (this.#heldBytes > MAX_ERROR_BYTES) this.#conclude(true);
      return;
    }
    if (Number(this.#headers['content-length']) === head.length) {
      this.#mode = 'whole';
      return;
    }
    this.#held = [];
    this.#heldBytes = 0;
    this.#begin();
    this.#relay(controller, head);
  }

  #collect(chunk: Buffer, most: number): void {
    this.#hold(chunk);
    if (this.#heldBytes > most) this.#conclude(true);
  }

  #tellLate(): void {
    const events = this.#coded() ? null : (this.#options.asEvents?.(Buffer.concat(this.#held)) ?? null);
    if (events === null) {
      this.#conclude(this.#heldBytes > MAX_ERROR_BYTES);
      return;
    }
    this.#mode = 'over';
    this.#answer.finish(Buffer.from(events));
    this.#owner.done(null);
  }

  #hold(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
  }

  /** A failure has been read, or as much of it as is read. */
  #conclude(truncated: boolean): void {
    const read = this.#coded() ? Buffer.alloc(0) : Buffer.concat(this.#held).subarray(0, MAX_ERROR_BYTES);
    const bytes = withoutCredentials(read, credentialsOf(this.#options.own ?? {}));
    if (truncated) this.abort();
    this.#mode = 'over';
    const verdict = this.#verdict(bytes, truncated);
    if (verdict.passes) this.#pass(bytes);
    else this.#failed(verdict.error);
  }

  /** Compressed, although plain bytes were asked for: nothing in it can be read, told or hidden. */
  #coded(): boolean {
    const coding = this.#headers['content-encoding'];
    return coding !== undefined && coding.trim().toLowerCase() !== 'identity';
  }

  #verdict(bytes: Buffer, truncated: boolean): Verdict {
    if (this.#status < 300) return { passes: false, error: errorInside200(bytes, truncated) };
    const hints = retryHints(this.#headers);
    return (this.#options.judge ?? judge)({ status: this.#status, bytes, truncated, hints });
  }

  /** An error of the engine goes on byte for byte; in a stream that has begun, as its error event. */
  #pass(bytes: Buffer): void {
    const body = JSON.parse(bytes.toString('utf8')) as object;
    if (this.#answer.headSent) this.#answer.failWith(body);
    else {
      this.#answer.begin(this.#status, { ...this.#headers, 'content-length': String(bytes.length) });
      this.#answer.finish(bytes);
    }
    this.#owner.done(failureInBody(body, this.#status));
  }

  #failed(error: GatewayError): void {
    if (this.#answer.headSent) {
      this.#answer.fail(error);
      this.#owner.done(error);
    } else this.#owner.refused(error);
  }
}
