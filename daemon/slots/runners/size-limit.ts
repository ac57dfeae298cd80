import { stat } from 'node:fs/promises';

/** Milliseconds between two checks. */
const CHECK_MS = 50;

/** A state file that grew beyond its limit. */
export class StateTooLarge extends Error {
  override readonly message = 'its state exceeds the limit';
}

/** Watches a file that another program writes. The signal is aborted with StateTooLarge above `maxBytes`. */
export class SizeLimit {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;

  constructor(path: string, maxBytes: number) {
    const excess = new AbortController();
    this.maxBytes = maxBytes;
    this.signal = excess.signal;
    const check = async () => {
      const stats = await stat(path).catch(() => null);
      if (stats !== null && stats.size > maxBytes) excess.abort(new StateTooLarge());
    };
    this.#timer = setInterval(() => void check(), CHECK_MS).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
