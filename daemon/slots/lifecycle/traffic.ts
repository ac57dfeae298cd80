/** Counts the requests of one slot. */
export class Traffic {
  /** Requests that are being served now. */
  active = 0;
  /** How many of them the engine continues although their callers have left. */
  abandoned = 0;
  /** Requests since the start of the gateway. */
  requests = 0;
  /** Unix milliseconds at which the last request started or ended; 0 before the first. */
  lastUsedAt = 0;
  /** Speed of the last response. */
  tokensPerSecond: number | null = null;

  requestStarted(now: number): void {
    this.lastUsedAt = now;
    this.active += 1;
    this.requests += 1;
  }

  /** The caller of a running request has left, but the engine cannot stop. */
  requestAbandoned(): void {
    this.abandoned += 1;
  }

  requestEnded(now: number, wasAbandoned = false): void {
    this.lastUsedAt = now;
    if (wasAbandoned) this.abandoned = Math.max(0, this.abandoned - 1);
    this.active = Math.max(0, this.active - 1);
  }

  /** Clears the running requests, because the engine has ended. */
  clear(): void {
    this.active = 0;
    this.abandoned = 0;
  }
}
