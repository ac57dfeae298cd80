import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../contract/errors.ts';
import { BadResponseError } from '../upstreams/ask.ts';
import type { Life } from './forward/call-scope.ts';
import type { Answer } from './forward/response-writer.ts';
import type { PreparedSink } from './tasks.ts';

/** Bytes of an answer that are waited for before it is asked whether it may go on as it is. */
const GLANCE = 1024 * 1024;
/** Most bytes of an answer that is made anew: the vectors of 2,048 texts as decimal numbers. */
const MOST_BYTES = 256 * 1024 * 1024;

export interface RemadeAnswerOptions {
  readonly answer: Answer;
  readonly life: Pick<Life, 'onEnd' | 'end'>;
  /** The body for the caller, from the whole of the engine's; throws a GatewayError for what it can't be made from. */
  remake(bytes: Buffer): Buffer;
  /** Asked once of a large answer: whether it may pass as it comes. */
  passes?(head: Buffer): boolean;
}

/** Stands between an engine's JSON and the caller: waits for all of it and answers with what is made of it. Errors pass by. */
export class RemadeAnswer implements PreparedSink {
  readonly #options: RemadeAnswerOptions;
  readonly #settled = Promise.withResolvers<void>();
  readonly #forget: () => void;
  #mode: 'collect' | 'pass' | 'over' = 'collect';
  #head: { status: number; headers: IncomingHttpHeaders } = { status: 0, headers: {} };
  #held: Buffer[] = [];
  #bytes = 0;
  #looked = false;

  constructor(options: RemadeAnswerOptions) {
    this.#options = options;
    this.#settled.promise.catch(() => {});
    this.#forget = options.life.onEnd((reason) => this.#settled.reject(reason));
  }

  /** Nothing is out as far as an exchange is concerned while the answer is collected. */
  get headSent(): boolean {
    return this.#options.answer.headSent;
  }

  /** Resolves when the caller has all, rejects with what went wrong after the engine had ended. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  begin(status: number, headers: IncomingHttpHeaders): void {
    this.#head = { status, headers };
    if (status >= 300) this.#pass();
  }

  write(chunk: Buffer): boolean {
    if (this.#mode === 'pass') return this.#options.answer.write(chunk);
    if (this.#mode === 'over') return true;
    this.#held.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes > MOST_BYTES) this.#tooLarge();
    else if (this.#bytes > GLANCE && !this.#looked) return this.#look();
    return true;
  }

  whenDrained(resume: () => void): void {
    this.#options.answer.whenDrained(resume);
  }

  finish(last?: Buffer): void {
    if (this.#mode === 'pass') {
      this.#options.answer.finish(last);
      this.#end();
      return;
    }
    if (last) this.write(last);
    if (this.#mode === 'collect') this.#remake();
  }

  fail(error: GatewayError): void {
    if (this.#mode === 'pass') {
      this.#options.answer.fail(error);
      this.#end();
    } else this.#fail(error);
  }

  failWith(envelope: object): void {
    this.#options.answer.failWith(envelope);
    this.#end();
  }

  /** Lets go of what is held. */
  dispose(): void {
    this.#mode = 'over';
    this.#held = [];
    this.#forget();
  }

  /** A large answer that is right as it is goes on in pieces. */
  #look(): boolean {
    this.#looked = true;
    const head = Buffer.concat(this.#held);
    if (!this.#options.passes?.(head)) return true;
    this.#pass();
    return this.#options.answer.write(head);
  }

  #pass(): void {
    this.#mode = 'pass';
    this.#held = [];
    this.#options.answer.begin(this.#head.status, this.#head.headers);
  }

  #remake(): void {
    try {
      const bytes = this.#options.remake(Buffer.concat(this.#held));
      const { answer } = this.#options;
      answer.begin(200, { 'content-type': 'application/json', 'content-length': String(bytes.length) });
      answer.finish(bytes);
      this.#end();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The engine may never end by itself: the call does. */
  #tooLarge(): void {
    this.#options.life.end(tooLarge());
    this.dispose();
  }

  #end(): void {
    this.#settled.resolve();
    this.dispose();
  }

  #fail(error: unknown): void {
    this.#settled.reject(error);
    this.dispose();
  }
}

const tooLarge = () =>
  new GatewayError('upstream.error', {
    message: 'The engine or upstream answered with more than can be looked through.',
    cause: new BadResponseError('Its answer is too large.'),
  });
