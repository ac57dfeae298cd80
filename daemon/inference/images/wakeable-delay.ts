/** A pause that somebody else can end early. */
export class WakeableDelay {
  #wake: (() => void) | null = null;
  #wakePending = false;

  /** Ends the pause that is under way, or the next one at its start. */
  wake(): void {
    this.#wakePending = true;
    this.#wake?.();
  }

  /** Resolves after `ms` milliseconds or at a nudge; rejects with the signal's reason. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#wakePending) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = () => resolve();
      const timer = setTimeout(wake, ms);
      this.#wake = wake;
      signal.addEventListener('abort', wake, { once: true });
      await promise;
      clearTimeout(timer);
      signal.removeEventListener('abort', wake);
      this.#wake = null;
    }
    this.#wakePending = false;
    signal.throwIfAborted();
  }
}
