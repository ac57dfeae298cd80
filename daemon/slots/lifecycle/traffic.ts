/** The requests of one slot, counted. */
export class Traffic {
  /** Being served now. */
  active = 0;
  /** Served since the start of the gateway. */
  requests = 0;
  /** Unix milliseconds at which the last one began or ended; 0 before the first. */
  lastUsedAt = 0;
  /** Speed of the last answer. */
  tokensPerSecond: number | null = null;

  requestStarted(now: number): void {
    this.lastUsedAt = now;
    this.active += 1;
    this.requests += 1;
  }

  requestEnded(now: number): void {
    this.lastUsedAt = now;
    this.active = Math.max(0, this.active - 1);
  }

  /** The engine is gone and all its requests with it. */
  clear(): void {
    this.active = 0;
  }
}
