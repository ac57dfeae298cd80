/** A pause that somebody else can end early. */
export class Nudge {
  #wake: (() => void) | null = null;
  #early = false;

  /** Ends the pause that is under way, or the next one at its start. */
  now(): void {
    this.#early = true;
    this.#wake?.();
  }

  /** Resolves after `ms` milliseconds or at a nudge; rejects with the signal's reason. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.#early) {
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
    this.#early = false;
    signal.throwIfAborted();
  }
}
