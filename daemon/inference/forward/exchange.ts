import type { IncomingHttpHeaders } from 'node:http';
import { catalogCodeOf, GatewayError } from '../../contract/errors.ts';
import { contentCoding, UndecodableResponse } from '../../lib/net/decode-response.ts';
import type { OutboundController, OutboundHandler } from '../../lib/net/outbound.ts';
import { isEventStream } from '../../lib/net/sse.ts';
import { FORM_BYTES, formOf, isJsonType } from './answer-form.ts';
import { ChatEventFilter } from './chat-event-filter.ts';
import { ChatAssembler, chatEvents } from './chat-framing.ts';
import { choiceCount } from './choice-count.ts';
import { errorInside200, judge, MAX_ERROR_BYTES, startsLikeError, type Verdict } from './engine-error.ts';
import type { ExchangeListener, ExchangeOptions, Framing, Sink } from './exchange-options.ts';
import { answerAborted, brokenResponse, lineTooLong, unsupportedCoding } from './failure.ts';
import { errorInBody, InBandError, statusOf } from './in-band-error.ts';
import { IncompleteAnswerScan } from './incomplete-answer.ts';
import { isLineBased, LineCap } from './line-cap.ts';
import { credentialsOf, redactCredentials } from './own-credential.ts';
import { StreamRedactor } from './redact-stream.ts';
import { retryHints, withRetryAdvice } from './retry-hints.ts';
import { isSoundless, mayBeSoundless } from './soundless.ts';

/**
 * One request on one connection, as undici reports it. `head` waits for the status, `peek` checks whether a
 * JSON response starts like an error, `whole` holds a small complete response, `relay` passes bytes on,
 * `collect` reads a failure, `convert` reads a complete response that is sent as events, `assemble` reads
 * events that are sent as a complete response, `sniff` waits for the first bytes of a chat without a known
 * type, `listen` for the first sound of speech.
 */
type Mode =
  | 'head'
  | 'sniff'
  | 'listen'
  | 'peek'
  | 'whole'
  | 'relay'
  | 'collect'
  | 'convert'
  | 'assemble'
  | 'over';

/** Maximum bytes of a complete response that is sent as events. */
const MAX_CONVERTED_BYTES = 64 * 1024 * 1024;

const EVENT_STREAM = 'text/event-stream';
const NOTHING = Buffer.alloc(0);

export class Exchange implements OutboundHandler {
  readonly #options: ExchangeOptions;
  readonly #listener: ExchangeListener;
  readonly #sink: Sink;
  readonly #redactor: StreamRedactor | null;
  readonly #filter: ChatEventFilter | null;
  /** The caller of a chat or completion requested a complete response. */
  readonly #isWhole: boolean;
  #assembler: ChatAssembler | null = null;
  #lines: LineCap | null = null;
  /** Null for a stream of a chat, in which the filter finds incomplete answers. */
  readonly #aborts: IncompleteAnswerScan | null;
  /** No byte of the body has been relayed. */
  #atStart = true;
  #mode: Mode = 'head';
  #isAnswering = false;
  #controller: OutboundController | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;

  constructor(options: ExchangeOptions, owner: ExchangeListener) {
    this.#options = options;
    this.#listener = owner;
    this.#sink = options.sink;
    const secrets = options.isUpstream ? credentialsOf(options.ownHeaders ?? {}) : [];
    this.#redactor = secrets.length > 0 ? new StreamRedactor(secrets) : null;
    const { framing } = options;
    this.#filter = framing?.stream
      ? new ChatEventFilter(framing.removesUsage, (event) => this.#sink.measure?.(event), framing.choices)
      : null;
    this.#isWhole = framing?.stream === false;
    this.#aborts = framing && this.#filter === null ? new IncompleteAnswerScan() : null;
  }

  /** Whether the request has begun to be sent. Before, it waits for a connection. */
  get isStarted(): boolean {
    return this.#controller !== null;
  }

  /** Whether the caller has received a part of the answer. Keep-alive comments are none. */
  get isAnswering(): boolean {
    return this.#isAnswering;
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
    this.#options.onBegin?.(status, headers);
    if (status >= 300) this.#mode = 'collect';
    else if (contentCoding(headers) !== null) this.#refuse(unsupportedCoding(contentCoding(headers) ?? ''));
    else if (this.#options.framing) this.#startChat(this.#options.framing);
    else this.#start();
  }

  #start(): void {
    const type = this.#headers['content-type'];
    const stream = isEventStream(type);
    const late = this.#sink.headSent && !stream;
    if (late) this.#mode = this.#options.asEvents ? 'convert' : 'collect';
    else if (!stream && isJsonType(type)) this.#mode = 'peek';
    else if (this.#options.soundless) this.#mode = 'listen';
    else this.#begin();
  }

  /** Starts the response to a chat or completion, which the caller gets in the form that it requested. */
  #startChat({ stream }: Framing): void {
    const type = this.#headers['content-type'];
    if (!isEventStream(type)) this.#mode = isJsonType(type) ? (stream ? 'convert' : 'peek') : 'sniff';
    else if (stream) this.#begin();
    else this.#mode = 'sniff';
  }

  onResponseData(controller: OutboundController, chunk: Buffer): void {
    this.#options.onData?.();
    if (this.#mode === 'relay') this.#relay(controller, chunk);
    else if (this.#mode === 'collect') this.#collect(chunk, MAX_ERROR_BYTES);
    else if (this.#mode === 'convert') this.#convert(controller, chunk);
    else if (this.#mode === 'assemble') this.#assemble(chunk);
    else if (this.#mode === 'peek') this.#peek(controller, chunk);
    else if (this.#mode === 'whole') this.#hold(controller, chunk);
    else if (this.#mode === 'sniff') this.#sniff(controller, chunk);
    else if (this.#mode === 'listen') this.#listen(controller, chunk);
  }

  onResponseEnd(): void {
    if (this.#mode === 'collect') this.#conclude(false);
    else if (this.#mode === 'convert' || (this.#mode === 'sniff' && this.#filter)) this.#sendAsEvents();
    else if (this.#mode === 'assemble') this.#sendAssembled();
    else if (this.#mode === 'listen' && isSoundless(Buffer.concat(this.#buffered)))
      this.#refuse(this.#options.soundless?.());
    else if (this.#mode !== 'over') this.#finish();
  }

  onResponseError(_: OutboundController, error: Error): void {
    if (this.#mode === 'over') return;
    // The status of an error is known although its text is not.
    if (this.#mode === 'collect' && error instanceof UndecodableResponse) {
      this.#clear();
      this.#conclude(false);
      return;
    }
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
      if (this.#countsChoices) this.#namesFewer(Buffer.concat(this.#buffered));
      this.#begin();
    }
    this.#mode = 'over';
    // The engine has nothing left to abort.
    this.#controller = null;
    const last = this.#lastBytes();
    if (!this.#filter) {
      this.#sink.finish(last);
      this.#listener.done(null);
      return;
    }
    const bytes = Buffer.concat([this.#filter.push(last ?? NOTHING), this.#filter.end()]);
    if (this.#filter.fault) this.#endWithFault(bytes);
    else {
      this.#sink.finish(bytes.length > 0 ? bytes : undefined);
      this.#listener.done(null);
    }
  }

  /** Ends a stream that the engine reports to have failed. `bytes` precede the failure, or contain it. */
  #endWithFault(bytes: Buffer): void {
    const fault = this.#filter?.fault;
    this.abort();
    if (fault?.kind === 'reported') {
      this.#sink.finish(bytes);
      this.#listener.done(null);
      return;
    }
    if (bytes.length > 0) this.#sink.write(bytes);
    if (fault?.kind !== 'error') {
      this.#fail(answerAborted());
      return;
    }
    const error = { ...fault.error };
    this.#sink.failWith({ error: this.#options.framing?.errorFor(error) ?? error });
    this.#listener.done(new InBandError(catalogCodeOf(error.code), statusOf(error), error.message));
  }

  #lastBytes(): Buffer | undefined {
    const held = this.#bufferedBytes > 0 ? Buffer.concat(this.#buffered) : undefined;
    if (!this.#redactor) return held;
    const last = Buffer.concat([this.#redactor.push(held ?? Buffer.alloc(0)), this.#redactor.end()]);
    return last.length > 0 ? last : undefined;
  }

  #beginAnswer(status: number, headers: IncomingHttpHeaders): void {
    this.#isAnswering = true;
    this.#sink.begin(status, headers);
  }

  #begin(): void {
    this.#beginAnswer(this.#status, this.#headers);
    if (isLineBased(this.#headers['content-type'])) this.#lines = new LineCap();
    this.#mode = 'relay';
  }

  #relay(controller: OutboundController, chunk: Buffer): void {
    if (this.#lines?.accepts(chunk) === false) {
      this.abort();
      this.#fail(lineTooLong());
      return;
    }
    if (this.#filter && this.#atStart) {
      this.#atStart = false;
      const form = formOf(chunk);
      if (form === 'json' || form === 'markup') {
        this.#mode = 'convert';
        this.#convert(controller, chunk);
        return;
      }
    }
    const cut = this.#abortAt(chunk);
    if (cut !== null) {
      this.#breakOff(chunk.subarray(0, cut));
      return;
    }
    const clean = this.#redactor ? this.#redactor.push(chunk) : chunk;
    const bytes = this.#filter ? this.#filter.push(clean) : clean;
    if (this.#filter?.fault) {
      this.#endWithFault(bytes);
      return;
    }
    if (bytes.length === 0 || this.#sink.write(bytes)) return;
    controller.pause();
    this.#sink.whenDrained(() => controller.resume());
  }

  /** Returns where an incomplete answer ends in these bytes; null when it does not. */
  #abortAt(bytes: Buffer): number | null {
    return this.#aborts?.cutAt(bytes) ?? null;
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
    if (this.#isWhole && formOf(head) === 'events') {
      this.#clear();
      this.#startEvents(controller, head);
      return;
    }
    const error = startsLikeError(head);
    if (error === undefined) return;
    if (error) {
      this.#mode = 'collect';
      if (this.#bufferedBytes > MAX_ERROR_BYTES) this.#conclude(true);
      return;
    }
    if (Number(this.#headers['content-length']) === head.length || this.#countsChoices) {
      this.#mode = 'whole';
      return;
    }
    this.#relayHeld(controller);
  }

  /** Holds a complete response whose choices are counted, as long as it is not too large. */
  #hold(controller: OutboundController, chunk: Buffer): void {
    this.#buffer(chunk);
    if (this.#bufferedBytes > MAX_CONVERTED_BYTES) this.#relayHeld(controller);
  }

  #relayHeld(controller: OutboundController): void {
    const head = Buffer.concat(this.#buffered);
    this.#clear();
    if (this.#abortAt(head) !== null) {
      this.#breakOff(NOTHING);
      return;
    }
    this.#begin();
    this.#relay(controller, head);
  }

  /** The caller requested several choices in a complete response. */
  get #countsChoices(): boolean {
    return this.#isWhole && (this.#options.framing?.choices ?? 1) > 1;
  }

  /** Returns whether a complete answer has fewer choices than requested, and reports it. */
  #namesFewer(bytes: Buffer): boolean {
    const { choices = 1, onFewerChoices } = this.#options.framing ?? {};
    const isFewer = choices > 1 && (choiceCount(bytes) ?? choices) < choices;
    if (isFewer) onFewerChoices?.();
    return isFewer;
  }

  /** Withholds the head until there is sound, so that silence from an engine can still set the status. */
  #listen(controller: OutboundController, chunk: Buffer): void {
    this.#buffer(chunk);
    const head = Buffer.concat(this.#buffered);
    if (mayBeSoundless(head)) return;
    this.#clear();
    this.#begin();
    this.#relay(controller, head);
  }

  /** Recognises a chat by its first bytes. */
  #sniff(controller: OutboundController, chunk: Buffer): void {
    this.#buffer(chunk);
    const head = this.#buffered.length === 1 ? chunk : Buffer.concat(this.#buffered);
    const form = formOf(head);
    if (form === 'blank' && head.length < FORM_BYTES) return;
    this.#clear();
    if (form === 'events') this.#startEvents(controller, head);
    else if (form === 'markup') {
      this.#mode = 'collect';
      this.#collect(head, MAX_ERROR_BYTES);
    } else if (this.#filter) {
      this.#mode = 'convert';
      this.#convert(controller, head);
    } else {
      // An answer in one piece has no event type, whatever its head says.
      if (isEventStream(this.#headers['content-type']))
        this.#headers = { ...this.#headers, 'content-type': 'application/json' };
      this.#mode = 'peek';
      this.#peek(controller, head);
    }
  }

  #startEvents(controller: OutboundController, head: Buffer): void {
    if (this.#isWhole) {
      this.#mode = 'assemble';
      this.#assembler = new ChatAssembler();
      this.#assemble(head);
      return;
    }
    this.#headers = { ...this.#headers, 'content-type': EVENT_STREAM };
    this.#begin();
    this.#relay(controller, head);
  }

  /** Collects a complete response for a stream. An event stream with another type is relayed. */
  #convert(controller: OutboundController, chunk: Buffer): void {
    if (this.#filter && this.#bufferedBytes === 0 && formOf(chunk) === 'events') {
      this.#startEvents(controller, chunk);
      return;
    }
    this.#collect(chunk, MAX_CONVERTED_BYTES);
  }

  #assemble(chunk: Buffer): void {
    try {
      this.#assembler?.push(this.#redactor ? this.#redactor.push(chunk) : chunk);
    } catch (error) {
      this.#refuse(error);
    }
  }

  #sendAssembled(): void {
    let bytes: Buffer;
    try {
      if (this.#redactor) this.#assembler?.push(this.#redactor.end());
      bytes = this.#assembler?.end() ?? NOTHING;
    } catch (error) {
      this.#refuse(error);
      return;
    }
    this.#mode = 'over';
    this.#namesFewer(bytes);
    const headers = { 'content-type': 'application/json', 'content-length': String(bytes.length) };
    this.#beginAnswer(this.#status, { ...this.#headers, ...headers });
    this.#sink.finish(bytes);
    this.#listener.done(null);
  }

  /** Stops the engine and reports a response that cannot be used. */
  #refuse(error: unknown): void {
    this.abort();
    this.#fail(error instanceof GatewayError ? error : new GatewayError('internal', { cause: error }));
  }

  #clear(): void {
    this.#buffered = [];
    this.#bufferedBytes = 0;
  }

  #collect(chunk: Buffer, most: number): void {
    this.#buffer(chunk);
    if (this.#bufferedBytes > most) this.#conclude(true);
  }

  #sendAsEvents(): void {
    const body = Buffer.concat(this.#buffered);
    const clean = this.#redactor
      ? redactCredentials(body, credentialsOf(this.#options.ownHeaders ?? {}))
      : body;
    const events = this.#options.framing ? chatEvents(clean) : (this.#options.asEvents?.(clean) ?? null);
    if (events === null) {
      this.#conclude(this.#bufferedBytes > MAX_ERROR_BYTES);
      return;
    }
    this.#clear();
    this.#namesFewer(clean);
    this.#beginAnswer(this.#status, { ...this.#headers, 'content-type': EVENT_STREAM });
    this.#mode = 'relay';
    this.#buffer(Buffer.from(events));
    this.#finish();
  }

  #buffer(chunk: Buffer): void {
    this.#buffered.push(chunk);
    this.#bufferedBytes += chunk.length;
  }

  /** Handles a failure after it has been read, or as much of it as is read. */
  #conclude(truncated: boolean): void {
    // A body with a coding that cannot be decoded can be neither read nor redacted.
    const isReadable = contentCoding(this.#headers) === null;
    const read = isReadable ? Buffer.concat(this.#buffered).subarray(0, MAX_ERROR_BYTES) : NOTHING;
    const bytes = redactCredentials(read, credentialsOf(this.#options.ownHeaders ?? {}));
    if (truncated) this.abort();
    this.#mode = 'over';
    this.#headers = withRetryAdvice(this.#status, this.#headers, bytes);
    const verdict = this.#verdict(bytes, truncated);
    if (verdict.passes) this.#pass(verdict.bytes ?? bytes);
    else this.#fail(verdict.error);
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
      this.#beginAnswer(this.#status, { ...this.#headers, 'content-length': String(bytes.length) });
      this.#sink.finish(bytes);
    }
    this.#listener.done(errorInBody(body, this.#status));
  }

  #fail(error: GatewayError): void {
    if (this.#isAnswering) {
      this.#sink.fail(error);
      this.#listener.done(error);
    } else this.#listener.refused(error);
  }
}
