import { GatewayError } from '../../contract/errors.ts';
import { stageErrorOf } from './spoken-response.ts';
import { type StageDeps, transcribe } from './stages.ts';
import type { Effect, Input } from './step.ts';

type Turn = Extract<Effect, { kind: 'transcribe' }>;

/** Maximum turns in the queue, and bytes of their audio. */
const MAX_TURNS = 128;
const MAX_BYTES = 32 * 1024 * 1024;

/** Transcribes the turns of one session one after the other, so that results keep their order. */
export class TranscriptionQueue {
  readonly #stages: StageDeps;
  readonly #dispatch: (input: Input) => void;
  readonly #signal: AbortSignal;
  #turns: Turn[] = [];
  #bytes = 0;
  #busy = false;

  constructor(stages: StageDeps, dispatch: (input: Input) => void, signal: AbortSignal) {
    this.#stages = stages;
    this.#dispatch = dispatch;
    this.#signal = signal;
  }

  add(turn: Turn): void {
    if (this.#turns.length >= MAX_TURNS || this.#bytes + turn.sound.length > MAX_BYTES) {
      const error = stageErrorOf(new GatewayError('slot.queue_full'));
      queueMicrotask(() => this.#dispatch({ kind: 'transcription_failed', item: turn.item, error }));
      return;
    }
    this.#turns.push(turn);
    this.#bytes += turn.sound.length;
    if (!this.#busy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#busy = true;
    for (let turn = this.#turns.shift(); turn !== undefined; turn = this.#turns.shift()) {
      const start = performance.now();
      const { item, sound, config } = turn;
      try {
        const { text, seconds } = await transcribe(this.#stages, sound, config, this.#signal);
        this.#dispatch({ kind: 'transcribed', item, text, seconds, ms: performance.now() - start });
      } catch (error) {
        if (this.#signal.aborted) return;
        this.#dispatch({ kind: 'transcription_failed', item, error: stageErrorOf(error) });
      } finally {
        this.#bytes -= sound.length;
      }
    }
    this.#busy = false;
  }
}
