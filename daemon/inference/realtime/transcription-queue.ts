import { GatewayError } from '../../contract/errors.ts';
import { toldOf } from './answer.ts';
import { hear, type StageDeps } from './stages.ts';
import type { Effect, Input } from './step.ts';

type Turn = Extract<Effect, { kind: 'hear' }>;

/** Turns that wait to be understood, and bytes of sound in them. */
const MOST_TURNS = 32;
const MOST_BYTES = 32 * 1024 * 1024;

/** Has the turns of one session understood, one after the other, so that they are told in their order. */
export class Ear {
  readonly #stages: StageDeps;
  readonly #tell: (input: Input) => void;
  readonly #signal: AbortSignal;
  #turns: Turn[] = [];
  #bytes = 0;
  #busy = false;

  constructor(stages: StageDeps, tell: (input: Input) => void, signal: AbortSignal) {
    this.#stages = stages;
    this.#tell = tell;
    this.#signal = signal;
  }

  hear(turn: Turn): void {
    if (this.#turns.length >= MOST_TURNS || this.#bytes + turn.sound.length > MOST_BYTES) {
      const error = toldOf(new GatewayError('slot.queue_full'));
      queueMicrotask(() => this.#tell({ kind: 'unheard', item: turn.item, error }));
      return;
    }
    this.#turns.push(turn);
    this.#bytes += turn.sound.length;
    if (!this.#busy) void this.#work();
  }

  async #work(): Promise<void> {
    this.#busy = true;
    for (let turn = this.#turns.shift(); turn !== undefined; turn = this.#turns.shift()) {
      const start = performance.now();
      const { item, sound, config } = turn;
      try {
        const { text, seconds } = await hear(this.#stages, sound, config, this.#signal);
        this.#tell({ kind: 'heard', item, text, seconds, ms: performance.now() - start });
      } catch (error) {
        if (this.#signal.aborted) return;
        this.#tell({ kind: 'unheard', item, error: toldOf(error) });
      } finally {
        this.#bytes -= sound.length;
      }
    }
    this.#busy = false;
  }
}
