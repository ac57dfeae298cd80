/**
 * Keeps the sequences of one context in step. The library decodes what is queued the moment a decode ends, and a sequence
 * whose token has just come is not queued again yet: two sequences would take turns for ever, each in a batch of its own.
 * So whoever wants its next token waits until all others have theirs; then all are asked for in one turn and share a
 * batch, which costs little more than one of them alone. A sequence whose reader is slow holds up nobody. Whoever begins while
 * nobody is at work waits a moment for others who come at once, because a prompt that is a batch late costs them all that batch.
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
   * `turn` resolves after the events that are due now: what they wake may still join the step. `gather` resolves when those
   * who come at once have come; null, the default, waits for nobody.
   */
  constructor(yieldTurn: () => Promise<unknown>, gather: (() => Promise<unknown>) | null = null) {
    this.#yieldTurn = yieldTurn;
    this.#gather = gather;
  }

  /** Takes part until `leave`. */
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

  /** Nothing is waited for while others are at work: their step is the moment to join. */
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

  /** Two turns: one for the readers of the tokens that just came, one for those who let the event loop in between. */
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
  /** Runs `ask`, which queues one token and resolves with it, together with the other members. */
  next<T>(decode: () => Promise<T>): Promise<T>;
  leave(): void;
}
