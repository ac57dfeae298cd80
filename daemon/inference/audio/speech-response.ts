import type { IncomingHttpHeaders } from 'node:http';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { GatewayError } from '../../contract/errors.ts';
import { sseData } from '../../lib/net/sse.ts';
import type { StreamEnd } from '../../lib/process/stream-command.ts';
import type { CallScope } from '../forward/call-scope.ts';
import type { Sink } from '../forward/exchange-options.ts';
import type { ResponseWriter } from '../forward/response-writer.ts';

/** What the audio of an engine passes through: an encoder, or nothing. */
export interface Pipe {
  readonly input: Writable | null;
  readonly output: Readable;
  readonly ended: Promise<Pick<StreamEnd, 'code'>>;
  kill(): void;
}

/** Returns a pipe that changes nothing. */
export function openPipe(): Pipe {
  const both = new PassThrough();
  return { input: both, output: both, ended: Promise.resolve({ code: 0 }), kill: () => both.destroy() };
}

export interface SpeechResponseOptions {
  readonly response: ResponseWriter;
  readonly scope: Pick<CallScope, 'onEnd' | 'end'>;
  readonly pipe: Pipe;
  /** Media type of the output of the pipe. */
  readonly type: string;
  /** Sends each chunk as one of OpenAI's events. */
  readonly events: boolean;
}

/** Local engines count no tokens, but the field is required. */
const NO_TOKENS = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };

/**
 * Passes the audio of an engine through a pipe to the caller. Sends the head with the first byte, so that a
 * failure of the encoder can still set the status. Errors of the engine bypass the pipe.
 */
export class SpeechResponse implements Sink {
  readonly #options: SpeechResponseOptions;
  readonly #settled = Promise.withResolvers<void>();
  readonly #unsubscribe: () => void;
  #failure: { status: number; headers: IncomingHttpHeaders } | null = null;
  #whole = false;
  #over = false;

  constructor(options: SpeechResponseOptions) {
    this.#options = options;
    this.#settled.promise.catch(() => {});
    this.#unsubscribe = options.scope.onEnd((reason) => this.#settled.reject(reason));
  }

  /** Always false for the exchange: failures are thrown, and reported by the caller of `settled`. */
  readonly headSent = false;

  /** Resolves when the caller has the whole response; rejects with a failure after the engine's end. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  begin(status: number, headers: IncomingHttpHeaders): void {
    if (status >= 300) this.#failure = { status, headers };
    else void this.#pump().then(this.#settled.resolve, () => this.#abortCall());
  }

  write(chunk: Buffer): boolean {
    return this.#options.pipe.input?.write(chunk) ?? true;
  }

  whenDrained(resume: () => void): void {
    this.#options.pipe.input?.once('drain', resume);
  }

  finish(last?: Buffer): void {
    if (this.#failure !== null) this.#passFailure(this.#failure, last ?? Buffer.alloc(0));
    else {
      this.#whole = true;
      this.#options.pipe.input?.end(last);
    }
  }

  fail(error: GatewayError): void {
    this.#settled.reject(error);
    this.dispose();
  }

  failWith(envelope: object): void {
    this.#options.response.failWith(envelope);
    this.#settled.resolve();
    this.dispose();
  }

  /** Stops everything that still runs. */
  dispose(): void {
    this.#over = true;
    this.#unsubscribe();
    this.#options.pipe.kill();
  }

  #passFailure({ status, headers }: { status: number; headers: IncomingHttpHeaders }, bytes: Buffer): void {
    const { response } = this.#options;
    if (response.headSent) response.failWith(JSON.parse(bytes.toString('utf8')) as object);
    else {
      response.begin(status, headers);
      response.finish(bytes);
    }
    this.#settled.resolve();
    this.dispose();
  }

  async #pump(): Promise<void> {
    const { response, pipe, events } = this.#options;
    for await (const chunk of pipe.output) {
      this.#begin();
      const bytes = events ? deltaOf(chunk as Buffer) : (chunk as Buffer);
      if (!response.write(bytes)) await new Promise<void>((resume) => response.whenDrained(resume));
    }
    const { code } = await pipe.ended;
    if (code !== 0 || !this.#whole) throw new Error('the pipe ended early');
    this.#begin();
    response.finish(
      events ? Buffer.from(sseData({ type: 'speech.audio.done', usage: NO_TOKENS })) : undefined,
    );
  }

  /** Ends the call: an engine that is paused or still sending would not notice the failure. */
  #abortCall(): void {
    if (!this.#over) this.#options.scope.end(encodingFailed());
  }

  #begin(): void {
    const { response, events, type } = this.#options;
    response.begin(200, { 'content-type': events ? 'text/event-stream' : type });
  }
}

const deltaOf = (chunk: Buffer): Buffer =>
  Buffer.from(sseData({ type: 'speech.audio.delta', audio: chunk.toString('base64') }));

const encodingFailed = () => new GatewayError('internal', { message: 'The sound format could not be made.' });
