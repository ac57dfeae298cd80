import { setImmediate } from 'node:timers/promises';
import { GatewayError } from '../../contract/errors.ts';
import type { ChatAsk } from './chat-body.ts';
import { type ChatPiece, SpokenPieces } from './chat-pieces.ts';
import { addText, NO_SENTENCE, speakable } from './sentences.ts';
import { chat, type StageDeps, say } from './stages.ts';
import type { Input, StageTimes, Tokens, Told, VoiceAsk } from './step.ts';
import { inFormat } from './voice-sound.ts';

export interface AnswerOptions {
  readonly stages: StageDeps;
  readonly response: string;
  readonly chat: ChatAsk;
  /** Null: the answer stays text. */
  readonly voice: VoiceAsk | null;
  readonly signal: AbortSignal;
  /** Tells the session what has come. */
  tell(input: Input): void;
  /** Resolves when the caller has taken enough of what was sent. */
  room(): Promise<void>;
}

/** Characters that may wait for the voice before the model is held back. */
const AHEAD = 16_384;

/** Each message has a turn of its own: a cancel that came together with the wish is here after two, before any work is done. */
const TURNS_BEFORE = 2;

/** What a session may be told of a failure. */
export function toldOf(error: unknown): Told {
  const known = error instanceof GatewayError ? error : new GatewayError('internal');
  return { code: known.code, message: known.message };
}

/** Sentences on their way from the model to the voice, with a limit on how far the model may be ahead. */
class Sentences {
  #state = NO_SENTENCE;
  #queue: string[] = [];
  #waiting = 0;
  #over = false;
  #wake: (() => void)[] = [];

  async add(text: string): Promise<void> {
    const [state, done] = addText(this.#state, text);
    this.#state = state;
    this.#push(done);
    while (this.#waiting > AHEAD && !this.#over) await this.#stirred();
  }

  /** Nothing comes any more; `drop` leaves out what is still there. */
  end(drop = false): void {
    if (!drop) this.#push([this.#state.rest]);
    else this.#queue = [];
    this.#over = true;
    this.#stir();
  }

  async *all(): AsyncGenerator<string> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) {
        yield next;
        this.#waiting -= next.length;
        this.#stir();
      } else if (this.#over) return;
      else await this.#stirred();
    }
  }

  #push(sentences: readonly string[]): void {
    for (const sentence of sentences) {
      if (sentence === '') continue;
      this.#queue.push(sentence);
      this.#waiting += sentence.length;
    }
    this.#stir();
  }

  #stirred = (): Promise<void> => new Promise((wake) => this.#wake.push(wake));

  #stir(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/**
 * Makes one answer: the model speaks, each sentence goes to the voice as soon as it is complete, and the session is told
 * all of it. Never rejects: what goes wrong is told, unless the signal has ended.
 */
export async function makeAnswer(options: AnswerOptions): Promise<void> {
  const sentences = new Sentences();
  const onAbort = () => sentences.end(true);
  options.signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (let turn = 0; turn < TURNS_BEFORE && !options.signal.aborted; turn++) await setImmediate();
    if (options.signal.aborted) return;
    await Promise.all([
      speakAll(options, sentences),
      answerAll(options, sentences).finally(() => sentences.end(options.signal.aborted)),
    ]);
  } catch (error) {
    sentences.end(true);
    if (!options.signal.aborted)
      options.tell({ kind: 'failed', response: options.response, error: toldOf(error) });
  } finally {
    options.signal.removeEventListener('abort', onAbort);
  }
}

class Watch {
  readonly #start = performance.now();
  #first: number | null = null;
  first(): void {
    this.#first ??= performance.now() - this.#start;
  }
  times(): StageTimes {
    return { firstMs: this.#first, ms: performance.now() - this.#start };
  }
}

async function answerAll(options: AnswerOptions, sentences: Sentences): Promise<void> {
  const { stages, response, tell, signal } = options;
  const watch = new Watch();
  const pieces = new SpokenPieces();
  let finish = 'stop';
  let tokens: Tokens | null = null;
  for await (const event of chat(stages, options.chat, signal)) {
    for (const piece of pieces.read(event)) {
      if (piece.kind === 'finish') finish = piece.reason;
      else if (piece.kind === 'tokens') tokens = piece.tokens;
      else {
        watch.first();
        tell(inputOf(response, piece));
        if (piece.kind === 'words' && options.voice !== null) await sentences.add(piece.text);
      }
    }
    await options.room();
    signal.throwIfAborted();
  }
  tell({ kind: 'answered', response, finish, tokens, times: watch.times() });
}

function inputOf(response: string, piece: Extract<ChatPiece, { kind: 'words' | 'call' }>): Input {
  return { ...piece, response };
}

async function speakAll(options: AnswerOptions, sentences: Sentences): Promise<void> {
  const { voice, stages, response, tell, signal } = options;
  if (voice === null) return;
  const watch = new Watch();
  for await (const sentence of sentences.all()) {
    signal.throwIfAborted();
    tell({ kind: 'saying', response, text: sentence });
    const text = speakable(sentence);
    if (text === null) continue;
    for await (const bytes of inFormat(await say(stages, text, voice, signal), voice.format)) {
      signal.throwIfAborted();
      watch.first();
      tell({ kind: 'sound', response, bytes });
      await options.room();
    }
  }
  if (!signal.aborted) tell({ kind: 'spoken', response, times: watch.times() });
}
