import type { OutgoingHttpHeaders } from 'node:http';
import { Writable } from 'node:stream';
import { catalogCodeOf, GatewayError } from '../../contract/errors.ts';
import type { StreamBlock } from '../../contract/event-stream.ts';
import { IGNORED_HEADER, mergedHeader } from '../../contract/ignored.ts';
import { isEventStream } from '../../lib/net/sse.ts';
import { BadResponseError } from '../../upstreams/query-upstream.ts';
import type { CallerResponse } from '../caller.ts';
import { engineEvents } from '../engine-events.ts';
import { endedEarly } from '../forward/failure.ts';
import { decodeName } from '../forward/headers.ts';
import type { EventEncoder, Responder, Translation } from './dialect.ts';
import { toCallerError } from './error-paths.ts';
import type { ExtrasCache } from './extras-cache.ts';
import { asObject, type Json, parsed } from './json.ts';
import { errorOf, normalizeError } from './normalize-error.ts';

/** Maximum bytes of a complete response. */
const MAX_WHOLE_BYTES = 64 * 1024 * 1024;
/** Headers that describe the body of the chat only. */
const CHAT_ONLY_HEADERS = ['content-length', 'content-encoding'];

/**
 * `whole` buffers the body until its end; `stream` translates each event as it arrives; `refused` is an
 * error.
 */
type Mode = 'head' | 'stream' | 'whole' | 'refused';
/** Status and body of a complete response. */
type WholeResponse = readonly [status: number, body: Buffer];

/**
 * Translates a chat response to another API. Translates streams event by event at the speed of the caller
 * without buffering: each write is sent at once, and a slow caller applies backpressure to the engine.
 * Therefore the end of the engine's stream immediately shows whether it is complete.
 */
export class DialectResponse extends Writable implements CallerResponse {
  readonly #res: CallerResponse;
  readonly #translation: Translation;
  readonly #reader = engineEvents();
  readonly #extras: Pick<ExtrasCache, 'store'>;
  #responder: Responder;
  #mode: Mode = 'head';
  #events: EventEncoder | null = null;
  #status = 0;
  #lastWriteAt = 0;
  #headers: OutgoingHttpHeaders = {};
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #complete = false;
  /** The caller is behind: the engine must wait. */
  #isBehind = false;
  /** The caller has received an error: nothing may follow. */
  #errorSent = false;
  /** Why the response could not be translated. The gateway must then end an engine that still sends. */
  #failure: GatewayError | null = null;
  /** The engine reported an error in its stream, which it ends itself. */
  #engineError: GatewayError | null = null;

  /** `model` is the requested model, until the serving model is known. */
  constructor(
    res: CallerResponse,
    translation: Translation,
    model: string,
    extras: Pick<ExtrasCache, 'store'>,
  ) {
    // The response of the caller counts the buffered bytes.
    super({ highWaterMark: Number.MAX_SAFE_INTEGER });
    this.#res = res;
    this.#translation = translation;
    this.#responder = { model, upstream: null, slot: null };
    this.#extras = extras;
    // The caller has already received the error.
    this.on('error', () => {});
    res.once('close', () => {
      if (!res.writableFinished) this.destroy();
    });
  }

  /** `performance.now()` of the last events for the caller; 0 before. */
  get lastWriteAt(): number {
    return this.#lastWriteAt;
  }

  /** The fault of the engine's response, after the caller has received it. */
  get failure(): GatewayError | null {
    return this.#failure ?? this.#engineError;
  }

  setHeader(name: string, value: number | string | readonly string[]): this {
    if (name === 'x-svc-model') this.#responder = { ...this.#responder, model: decodeName(String(value)) };
    if (name === IGNORED_HEADER) {
      // The translation has named what it left out.
      this.#res.setHeader(name, mergedHeader(this.#translation.headers[name], String(value)));
      return this;
    }
    if (name === 'x-svc-slot') this.#responder = { ...this.#responder, slot: String(value) };
    if (name === 'x-svc-upstream') this.#responder = this.#withUpstream(String(value));
    this.#res.setHeader(name, value);
    return this;
  }

  #withUpstream(upstream: string): Responder {
    return { ...this.#responder, upstream, keep: (id, extra) => this.#extras.store(upstream, id, extra) };
  }

  removeHeader(name: string): void {
    if (name === 'x-svc-slot') this.#responder = { ...this.#responder, slot: null };
    this.#res.removeHeader(name);
  }

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): this {
    const forwarded = Object.entries(headers).filter(([name]) => !CHAT_ONLY_HEADERS.includes(name));
    this.#status = status;
    this.#headers = Object.fromEntries(forwarded);
    if (status >= 300) this.#mode = 'refused';
    else if (!isEventStream(String(headers['content-type'] ?? ''))) this.#mode = 'whole';
    else {
      this.#mode = 'stream';
      this.#events = this.#translation.events(this.#responder);
      this.#res.writeHead(status, this.#headers);
      this.#lastWriteAt = performance.now();
      this.#res.write(this.#events.open());
    }
    return this;
  }

  flushHeaders(): void {
    if (this.#mode === 'stream') this.#res.flushHeaders();
  }

  /** Returns false while the caller is behind; `drain` follows when it has caught up. */
  override write(chunk: Buffer | string): boolean {
    super.write(chunk);
    return !this.#isBehind;
  }

  override _write(chunk: Buffer, _: string, done: (error?: Error | null) => void): void {
    if (this.#mode !== 'stream') {
      this.#buffer(chunk, done);
      return;
    }
    const text = this.#encode(() => this.#reader.push(chunk));
    if (this.#failure) {
      this.#isBehind = true;
      this.#breakOff(text, done);
      return;
    }
    if (text !== '') {
      this.#lastWriteAt = performance.now();
      if (!this.#res.write(text)) this.#fallBehind();
    }
    done();
  }

  #fallBehind(): void {
    if (this.#isBehind) return;
    this.#isBehind = true;
    this.#res.once('drain', () => {
      if (this.#failure || this.writableEnded) return;
      this.#isBehind = false;
      this.emit('drain');
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#mode === 'stream') {
      const text = this.#encode(() => this.#reader.end());
      this.#res.end(text + this.#finalText(), () => done());
      return;
    }
    this.#sendWhole(this.#wholeResponse(Buffer.concat(this.#buffered)), done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#buffered = [];
    if (!this.#res.writableEnded) this.#res.destroy();
    done(error);
  }

  #finalText(): string {
    if (this.#errorSent || this.#events === null) return '';
    if (this.#complete || this.#events.finished) return this.#events.end();
    return this.#fail(endedEarly());
  }

  #encode(read: () => readonly StreamBlock[]): string {
    let text = '';
    try {
      for (const block of read()) text += this.#block(block);
      return text;
    } catch (error) {
      return text + this.#fail(error instanceof GatewayError ? error : new GatewayError('internal'));
    }
  }

  #block(block: StreamBlock): string {
    const events = this.#events;
    if (this.#errorSent || events === null) return '';
    if ('comment' in block) return this.#isBehind ? '' : events.idle();
    if (block.data.trim() === '') return '';
    if (block.data === '[DONE]') {
      this.#complete = true;
      return '';
    }
    const chat = asObject(parsed(block.data));
    if (!chat)
      throw new GatewayError('upstream.error', { message: 'An event of the engine is not valid JSON.' });
    const error = errorOf(chat);
    if (!error) return events.chunk(chat);
    this.#errorSent = true;
    this.#engineError = new GatewayError(catalogCodeOf(error.code));
    return events.fail(this.#callerError(error, null));
  }

  #fail(error: GatewayError): string {
    this.#errorSent = true;
    this.#failure = error;
    return this.#events?.fail(this.#ownError(error)) ?? '';
  }

  /** Sends the error as the last event; ending the response stops the engine. */
  #breakOff(text: string, done: (error?: Error | null) => void): void {
    this.#res.end(text, () => done(new Error('the answer broke off')));
  }

  #buffer(chunk: Buffer, done: (error?: Error | null) => void): void {
    this.#buffered.push(chunk);
    this.#bufferedBytes += chunk.length;
    if (this.#bufferedBytes <= MAX_WHOLE_BYTES) {
      done();
      return;
    }
    this.#buffered = [];
    const cause = new BadResponseError('Its answer is too large.');
    const message = 'The answer of the engine is too long.';
    this.#sendWhole(this.#errorResponse(new GatewayError('upstream.error', { message, cause })), () =>
      done(cause),
    );
  }

  #sendWhole([status, body]: WholeResponse, done: () => void): void {
    const headers = { ...this.#headers, 'content-type': 'application/json', 'content-length': body.length };
    this.#res.writeHead(status, headers);
    this.#res.end(body, done);
  }

  #errorResponse(error: GatewayError): WholeResponse {
    this.#failure = error;
    return [error.status, asJson(this.#translation.envelope({ error: this.#ownError(error) }))];
  }

  /** The error object of the gateway itself, with the type of this API. */
  #ownError(error: GatewayError): Json {
    return { ...error.envelope('openai').error, type: this.#translation.errorType(error.status) };
  }

  #engineErrorBody(body: Json): Buffer {
    const error = errorOf(body);
    const errorBody = error ? { ...body, error: this.#callerError(error, this.#status) } : body;
    return asJson(this.#translation.envelope(errorBody));
  }

  #callerError(error: Json, status: number | null): Json {
    const { origin, errorType } = this.#translation;
    return toCallerError(origin, normalizeError(error, status, errorType));
  }

  #wholeResponse(bytes: Buffer): WholeResponse {
    const body = asObject(parsed(bytes.toString('utf8')));
    if (this.#mode === 'refused') return [this.#status, body ? this.#engineErrorBody(body) : bytes];
    try {
      if (!body) throw new GatewayError('upstream.error', { message: 'The engine did not answer in JSON.' });
      return [this.#status, asJson(this.#translation.whole(body, this.#responder))];
    } catch (error) {
      return this.#errorResponse(error instanceof GatewayError ? error : new GatewayError('internal'));
    }
  }
}

const asJson = (value: Json): Buffer => Buffer.from(JSON.stringify(value));
