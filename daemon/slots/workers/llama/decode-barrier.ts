/**
 * Keeps the sequences of one context in step. The library decodes what is queued as soon as a decode ends,
 * before the sequence that just received a token has queued the next one. Without a barrier two sequences
 * would alternate, each in its own batch. A sequence that needs its next token waits until all others have
 * theirs. Then all are queued in one turn and share a batch, which costs little more than one of them alone.
 * A sequence with a slow reader blocks no other. A sequence that starts while none is running waits briefly
 * for others that arrive together, because a prompt that arrives one batch late costs all of them that batch.
 */
export class DecodeBarrier {
  readonly #yieldTurn: () => Promise<unknown>;
  readonly #gather: (() => Promise<unknown>) | null;
  #gathering: Promise<unknown> | null = null;
  #members = 0;
  /** Members that wait for a token. */
  #decoding = 0;
  #waiting: (() => void)[] = [];
  #releasing = false;

  /**
   * `yieldTurn` resolves after the events that are due now, so that the code they wake can still join the
   * step. `gather` resolves when requests that arrive together have arrived. Null (default): does not wait.
   */
  constructor(yieldTurn: () => Promise<unknown>, gather: (() => Promise<unknown>) | null = null) {
    this.#yieldTurn = yieldTurn;
    this.#gather = gather;
  }

  /** Joins until `leave` is called. */
  join(): Member {
    this.#members++;
    let left = false;
    let hasStarted = false;
    return {
      next: async (decode) => {
        if (!hasStarted) await this.#gathered();
        hasStarted = true;
        return this.#next(decode);
      },
      leave: () => {
        if (left) return;
        left = true;
        this.#members--;
      },
    };
  }

  /** Skips the wait while others are running: the next step is the moment to join. */
  async #gathered(): Promise<void> {
    if (this.#gather === null || this.#decoding > 0 || this.#waiting.length > 0) return;
    this.#gathering ??= this.#gather().finally(() => {
      this.#gathering = null;
    });
    await this.#gathering;
  }

  async #next<T>(decode: () => Promise<T>): Promise<T> {
    if (this.#members > 1) await this.#step();
    this.#decoding++;
    try {
      return await decode();
    } finally {
      this.#decoding--;
      void this.#release();
    }
  }

  #step(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      void this.#release();
    });
  }

  /**
   * Waits two turns: one for the readers of the tokens that just arrived, one for readers that yield to the
   * event loop in between.
   */
  async #release(): Promise<void> {
    if (this.#releasing || this.#decoding > 0 || this.#waiting.length === 0) return;
    this.#releasing = true;
    await this.#yieldTurn();
    await this.#yieldTurn();
    this.#releasing = false;
    if (this.#decoding > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

export interface Member {
  /** Runs `decode`, which queues one token and resolves with it, in the same batch as the other members. */
  next<T>(decode: () => Promise<T>): Promise<T>;
  leave(): void;
}
