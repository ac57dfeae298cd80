import type { WebSocket } from 'ws';
import type { Tier } from '../../contract/auth.ts';
import type { Log } from '../../lib/log.ts';
import { clientError, type ReadResult, readClientEvent } from './client-event.ts';
import { newSession, session } from './session.ts';
import { SocketWriter } from './socket-writer.ts';
import { runResponse, stageErrorOf } from './spoken-response.ts';
import type { StageDeps } from './stages.ts';
import type { Effect, Input, SessionEnvironment, SessionState } from './step.ts';
import { TranscriptionQueue } from './transcription-queue.ts';

export interface ConnectionOptions {
  readonly socket: WebSocket;
  /** Prefix of all ids of this session. */
  readonly id: string;
  readonly start: Parameters<typeof newSession>[1];
  readonly stages: StageDeps & { readonly tier: Tier };
  readonly log: Log;
  can: SessionEnvironment['can'];
  unknownModel: SessionEnvironment['unknownModel'];
  chatModel: SessionEnvironment['chatModel'];
  /** Idle time in milliseconds after which the session is closed. */
  readonly idleMs: number;
}

/** Maximum bytes of one event: 15 MiB of audio as base64 (docs/spec/contract.md#realtime-event-size). */
const MAX_EVENT_BYTES = 21 << 20;
const TOO_LARGE: ReadResult = {
  ok: false,
  error: clientError(
    'event_too_large',
    'An event may have at most 21 MiB (15 MiB of audio as base64). Send the audio in several events.',
  ),
};

/** Close code of an idle session. */
const IDLE_CLOSE_CODE = 4408;

/**
 * One session on one socket: client messages in, events out, and the stages between them. Its end stops all
 * work.
 */
export class Connection {
  readonly #options: ConnectionOptions;
  readonly #writer: SocketWriter;
  readonly #transcriptions: TranscriptionQueue;
  readonly #over = new AbortController();
  #state: SessionState;
  /** The responses that are running, by id. */
  readonly #answers = new Map<string, AbortController>();
  #turnTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#state = newSession(options.id, options.start);
    this.#writer = new SocketWriter(options.socket);
    this.#transcriptions = new TranscriptionQueue(
      options.stages,
      (input) => this.#dispatch(input),
      this.#over.signal,
    );
  }

  /** Sends the first event and serves until the socket closes. */
  open(): void {
    const { socket } = this.#options;
    socket.on('message', (data: Buffer) => this.#receive(data));
    socket.on('error', () => {});
    socket.once('close', () => this.#end());
    this.#dispatch({ kind: 'open' });
    this.#resetIdleTimer();
  }

  #receive(data: Buffer): void {
    this.#resetIdleTimer();
    const read = data.length > MAX_EVENT_BYTES ? TOO_LARGE : readClientEvent(data);
    this.#dispatch({ kind: 'message', read });
  }

  #dispatch(input: Input): void {
    if (this.#over.signal.aborted) return;
    try {
      const { can, unknownModel, chatModel } = this.#options;
      const world = { can, unknownModel, chatModel, now: performance.now() };
      const [state, effects] = session(this.#state, input, world);
      this.#state = state;
      for (const effect of effects) this.#apply(effect);
    } catch (error) {
      this.#options.log.error({ err: error, input: input.kind }, 'a realtime session failed');
      this.#options.socket.close(1011, 'internal');
      this.#end();
    }
  }

  #apply(effect: Effect): void {
    if (effect.kind === 'send') this.#writer.send(effect.event);
    else if (effect.kind === 'transcribe') this.#transcriptions.add(effect);
    else if (effect.kind === 'answer') this.#begin(effect);
    else if (effect.kind === 'stop') this.#stop(effect.response);
    else this.#setTurnTimer(effect.ms);
  }

  #begin({ response, chat, voice }: Extract<Effect, { kind: 'answer' }>): void {
    const control = new AbortController();
    this.#answers.set(response, control);
    const { stages } = this.#options;
    const signal = AbortSignal.any([control.signal, this.#over.signal]);
    const dispatch = (input: Input) => this.#dispatch(input);
    const waitForDrain = () => this.#writer.drained(signal);
    void runResponse({ stages, response, chat, voice, signal, dispatch, drained: waitForDrain }).catch(
      (error: unknown) => this.#dispatch({ kind: 'failed', response, error: stageErrorOf(error) }),
    );
  }

  #stop(response: string): void {
    this.#answers.get(response)?.abort(new Error('the answer was ended'));
    if (this.#answers.delete(response)) this.#writer.wake();
  }

  #setTurnTimer(ms: number | null): void {
    clearTimeout(this.#turnTimer);
    if (ms !== null) this.#turnTimer = setTimeout(() => this.#dispatch({ kind: 'idle' }), ms);
  }

  /** Restarts the idle timer. It closes the session unless a response is running. */
  #resetIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#state.response !== null || this.#state.sideResponses.length > 0)
        return this.#resetIdleTimer();
      this.#options.socket.close(IDLE_CLOSE_CODE, 'nothing happened for too long');
    }, this.#options.idleMs);
  }

  #end(): void {
    clearTimeout(this.#turnTimer);
    clearTimeout(this.#idleTimer);
    this.#over.abort(new Error('the session is over'));
    this.#writer.close();
  }
}
