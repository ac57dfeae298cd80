/** A delay that can be ended early. */
export class WakeableDelay {
  #wake: (() => void) | null = null;
  #wakePending = false;

  /** Ends the current delay, or the next one at its start. */
  wake(): void {
    this.#wakePending = true;
    this.#wake?.();
  }

  /** Resolves after `ms` milliseconds or when woken; rejects with the reason of the signal. */
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
