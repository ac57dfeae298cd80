import type { WebSocket } from 'ws';
import type { Tier } from '../../contract/auth.ts';
import type { Log } from '../../lib/log.ts';
import { makeAnswer, toldOf } from './answer.ts';
import { readClientEvent } from './client-event.ts';
import { newSession, session } from './session.ts';
import { Mouth } from './socket-writer.ts';
import type { StageDeps } from './stages.ts';
import type { Effect, Input, SessionState, World } from './step.ts';
import { Ear } from './transcription-queue.ts';

export interface ConnectionOptions {
  readonly socket: WebSocket;
  /** Distinguishes the ids of this session from those of all others. */
  readonly id: string;
  readonly start: Parameters<typeof newSession>[1];
  readonly stages: StageDeps & { readonly tier: Tier };
  readonly log: Log;
  can: World['can'];
  /** A session in which nothing happens for so long is closed, in milliseconds. */
  readonly idleMs: number;
}

/** Close code of a session in which nothing happens. */
const IDLE = 4408;

/** One session on one socket: messages in, events out, and the stages between them. Its end ends all its work. */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #mouth: Mouth;
  readonly #ear: Ear;
  readonly #over = new AbortController();
  #state: SessionState;
  #answer: { response: string; control: AbortController } | null = null;
  #turnTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#state = newSession(options.id, options.start);
    this.#mouth = new Mouth(options.socket);
    this.#ear = new Ear(options.stages, (input) => this.#tell(input), this.#over.signal);
  }

  /** Greets the caller and serves until the socket closes. */
  open(): void {
    const { socket } = this.#options;
    socket.on('message', (data: Buffer) => this.#take(data));
    socket.on('error', () => {});
    socket.once('close', () => this.#end());
    this.#tell({ kind: 'open' });
    this.#awake();
  }

  #take(data: Buffer): void {
    this.#awake();
    this.#tell({ kind: 'message', read: readClientEvent(data) });
  }

  #tell(input: Input): void {
    if (this.#over.signal.aborted) return;
    try {
      const world = { can: this.#options.can, now: performance.now() };
      const [state, effects] = session(this.#state, input, world);
      this.#state = state;
      for (const effect of effects) this.#do(effect);
    } catch (error) {
      this.#options.log.error({ err: error, input: input.kind }, 'a realtime session broke');
      this.#options.socket.close(1011, 'internal');
      this.#end();
    }
  }

  #do(effect: Effect): void {
    if (effect.kind === 'send') this.#mouth.send(effect.event);
    else if (effect.kind === 'hear') this.#ear.hear(effect);
    else if (effect.kind === 'answer') this.#begin(effect);
    else if (effect.kind === 'stop') this.#stop(effect.response);
    else this.#wakeAfter(effect.ms);
  }

  #begin({ response, chat, voice }: Extract<Effect, { kind: 'answer' }>): void {
    const control = new AbortController();
    this.#answer = { response, control };
    const { stages } = this.#options;
    const signal = AbortSignal.any([control.signal, this.#over.signal]);
    const tell = (input: Input) => this.#tell(input);
    const room = () => this.#mouth.room(signal);
    void makeAnswer({ stages, response, chat, voice, signal, tell, room }).catch((error: unknown) =>
      this.#tell({ kind: 'failed', response, error: toldOf(error) }),
    );
  }

  #stop(response: string): void {
    if (this.#answer?.response !== response) return;
    this.#answer.control.abort(new Error('the answer was ended'));
    this.#answer = null;
    this.#mouth.wake();
  }

  #wakeAfter(ms: number | null): void {
    clearTimeout(this.#turnTimer);
    if (ms !== null) this.#turnTimer = setTimeout(() => this.#tell({ kind: 'idle' }), ms);
  }

  /** Something has happened; when nothing does for long enough, the session is closed unless an answer goes on. */
  #awake(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#state.response !== null) return this.#awake();
      this.#options.socket.close(IDLE, 'nothing happened for too long');
    }, this.#options.idleMs);
  }

  #end(): void {
    clearTimeout(this.#turnTimer);
    clearTimeout(this.#idleTimer);
    this.#over.abort(new Error('the session is over'));
    this.#mouth.close();
  }
}
