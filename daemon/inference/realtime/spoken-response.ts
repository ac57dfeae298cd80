import { setImmediate } from 'node:timers/promises';
import { GatewayError, openaiErrorType } from '../../contract/errors.ts';
import type { ChatRequest } from './chat-body.ts';
import { type ChatPiece, SpokenPieces } from './chat-pieces.ts';
import { addText, NO_SENTENCE, speakable } from './sentences.ts';
import type { StageTimes, Tokens, VoiceRequest } from './stage-types.ts';
import { chat, type StageDeps, synthesize } from './stages.ts';
import type { Input, StageError } from './step.ts';
import { inFormat } from './voice-sound.ts';

export interface SpokenResponseOptions {
  readonly stages: StageDeps;
  readonly response: string;
  readonly chat: ChatRequest;
  /** Null for a text response. */
  readonly voice: VoiceRequest | null;
  readonly signal: AbortSignal;
  /** Sends an input to the session. */
  dispatch(input: Input): void;
  /** Resolves when the caller has read enough of what was sent. */
  drained(): Promise<void>;
}

/** Characters that may wait for the voice before the model is paused. */
const MAX_AHEAD_CHARACTERS = 16_384;

/** A cancel that arrived together with the request is processed within two ticks, before any work starts. */
const TICKS_BEFORE_START = 2;

/** Converts a failure to what a session may see. */
export function stageErrorOf(error: unknown): StageError {
  const known = error instanceof GatewayError ? error : new GatewayError('internal');
  return { type: openaiErrorType(known.status), code: known.code, message: known.message };
}

/** Queues sentences from the model for the voice and limits how far the model may be ahead. */
class SentenceQueue {
  #state = NO_SENTENCE;
  #queue: string[] = [];
  #waiting = 0;
  #over = false;
  #wake: (() => void)[] = [];

  async add(text: string): Promise<void> {
    const [state, done] = addText(this.#state, text);
    this.#state = state;
    this.#push(done);
    while (this.#waiting > MAX_AHEAD_CHARACTERS && !this.#over) await this.#nextWake();
  }

  /** Ends the queue; `drop` discards what is left. */
  end(drop = false): void {
    if (!drop) this.#push([this.#state.rest]);
    else this.#queue = [];
    this.#over = true;
    this.#wakeAll();
  }

  async *all(): AsyncGenerator<string> {
    for (;;) {
      const next = this.#queue.shift();
      if (next !== undefined) {
        yield next;
        this.#waiting -= next.length;
        this.#wakeAll();
      } else if (this.#over) return;
      else await this.#nextWake();
    }
  }

  #push(sentences: readonly string[]): void {
    for (const sentence of sentences) {
      if (sentence === '') continue;
      this.#queue.push(sentence);
      this.#waiting += sentence.length;
    }
    this.#wakeAll();
  }

  #nextWake = (): Promise<void> => new Promise((wake) => this.#wake.push(wake));

  #wakeAll(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/**
 * Runs one response: sends each complete sentence of the model to the voice and dispatches all events to the
 * session. Never rejects: dispatches failures unless the signal is aborted.
 */
export async function runResponse(options: SpokenResponseOptions): Promise<void> {
  const sentences = new SentenceQueue();
  const onAbort = () => sentences.end(true);
  options.signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (let turn = 0; turn < TICKS_BEFORE_START && !options.signal.aborted; turn++) await setImmediate();
    if (options.signal.aborted) return;
    await Promise.all([
      streamSpeech(options, sentences),
      streamChat(options, sentences).finally(() => sentences.end(options.signal.aborted)),
    ]);
  } catch (error) {
    sentences.end(true);
    if (!options.signal.aborted)
      options.dispatch({ kind: 'failed', response: options.response, error: stageErrorOf(error) });
  } finally {
    options.signal.removeEventListener('abort', onAbort);
  }
}

class Stopwatch {
  readonly #start = performance.now();
  #first: number | null = null;
  first(): void {
    this.#first ??= performance.now() - this.#start;
  }
  times(): StageTimes {
    return { firstMs: this.#first, ms: performance.now() - this.#start };
  }
}

async function streamChat(options: SpokenResponseOptions, sentences: SentenceQueue): Promise<void> {
  const { stages, response, dispatch, signal } = options;
  const watch = new Stopwatch();
  const pieces = new SpokenPieces();
  let finish = 'stop';
  let tokens: Tokens | null = null;
  const accept = async (piece: ChatPiece): Promise<void> => {
    if (piece.kind === 'finish') finish = piece.reason;
    else if (piece.kind === 'tokens') tokens = piece.tokens;
    else {
      watch.first();
      dispatch(inputOf(response, piece));
      if (piece.kind === 'text' && options.voice !== null) await sentences.add(piece.text);
    }
  };
  for await (const event of chat(stages, options.chat, signal)) {
    for (const piece of pieces.read(event)) await accept(piece);
    await options.drained();
    signal.throwIfAborted();
  }
  for (const piece of pieces.end()) await accept(piece);
  dispatch({ kind: 'answered', response, finish, tokens, times: watch.times() });
}

function inputOf(response: string, piece: Extract<ChatPiece, { kind: 'text' | 'call' }>): Input {
  return { ...piece, response };
}

/** A sentence that the voice cannot speak, for example in a script it does not know, costs only its sound. */
const isUnspeakable = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'request.invalid' && error.options.param === 'input';

async function streamSpeech(options: SpokenResponseOptions, sentences: SentenceQueue): Promise<void> {
  const { voice, stages, response, dispatch, signal } = options;
  if (voice === null) return;
  const watch = new Stopwatch();
  let refused: GatewayError | null = null;
  let hasSound = false;
  for await (const sentence of sentences.all()) {
    signal.throwIfAborted();
    dispatch({ kind: 'sentence', response, text: sentence });
    const text = speakable(sentence);
    if (text === null) continue;
    const sound = await synthesize(stages, text, voice, signal).catch((error: unknown) => {
      if (!isUnspeakable(error)) throw error;
      refused = error;
      return null;
    });
    if (sound === null) continue;
    for await (const bytes of inFormat(sound, voice.format)) {
      signal.throwIfAborted();
      watch.first();
      hasSound = true;
      dispatch({ kind: 'sound', response, bytes });
      await options.drained();
    }
  }
  if (refused !== null && !hasSound) throw refused;
  if (!signal.aborted) dispatch({ kind: 'spoken', response, times: watch.times() });
}
