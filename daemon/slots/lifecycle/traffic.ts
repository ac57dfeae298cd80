/** The requests of one slot, counted. */
export class Traffic {
  /** Being served now. */
  active = 0;
  /** Served since the start of the gateway. */
  requests = 0;
  /** Unix milliseconds at which the last one began or ended; 0 before the first. */
  usedAt = 0;
  /** Speed of the last answer. */
  tokensPerSecond: number | null = null;

  began(now: number): void {
    this.usedAt = now;
    this.active += 1;
    this.requests += 1;
  }

  ended(now: number): void {
    this.usedAt = now;
    this.active = Math.max(0, this.active - 1);
  }

  /** The engine is gone and all its requests with it. */
  cut(): void {
    this.active = 0;
  }
}
