/**
 * What a probe showed: a response, no response in time or a broken connection, a refused connection, or a vLLM
 * in sleep mode.
 */
export type ProbeResult = 'alive' | 'failed' | 'refused' | 'sleeping';

/** Silence after which an upstream with waiting requests is probed. Milliseconds. */
export const SILENCE_MS = 10_000;
/** Time from the first failed probe to the second one. Milliseconds. */
export const SECOND_PROBE_MS = 5_000;
/** Maximum pause between the probes of an upstream that is down; doubled from `SECOND_PROBE_MS`. Milliseconds. */
export const MAX_PROBE_PAUSE_MS = 30_000;
/** Minimum time between two probes of an upstream that failed and has no waiting requests. Milliseconds. */
export const RECOVERY_PROBE_MS = 10_000;
/** Minimum time between two probes that requests or data caused. Milliseconds. */
const MIN_PROBE_PAUSE_MS = 1_000;

const DOWN_CAUSES: Readonly<Record<Exclude<ProbeResult, 'alive'>, string>> = {
  failed: 'It did not respond to two probes.',
  refused: 'It refused the connection: no server listens at this address.',
  sleeping: 'It is in sleep mode. Wake it with POST /wake_up.',
};

/**
 * Whether one upstream responds at all (docs/spec/contract.md#hang-probe). A server that is busy with a long
 * prompt answers probes. Only a probe restores an upstream that is down. Uses the given monotonic milliseconds;
 * has no timers.
 */
export class Liveness {
  readonly #now: () => number;
  #state: 'alive' | 'suspected' | 'down' = 'alive';
  #cause: string | null = null;
  #isProbing = false;
  /** Start of the last probe. */
  #probedAt = Number.NEGATIVE_INFINITY;
  #pauseMs = SECOND_PROBE_MS;
  /** A request or data arrived while it was down. */
  #isProbeRequested = false;
  /** Data arrived since the start of the last probe. */
  #hasData = false;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Two probes failed. It gets no requests until a probe succeeds. */
  get isDown(): boolean {
    return this.#state === 'down';
  }

  /** One probe failed, and the second one is pending. */
  get isSuspected(): boolean {
    return this.#state === 'suspected';
  }

  /** Why it is down, in one sentence; null otherwise. */
  get cause(): string | null {
    return this.#cause;
  }

  /** Milliseconds until the next probe while it is down. */
  get waitMs(): number {
    return Math.max(0, this.#probedAt + this.#probePauseMs - this.#now());
  }

  get #probePauseMs(): number {
    if (this.#state === 'suspected') return SECOND_PROBE_MS;
    return this.#isProbeRequested ? MIN_PROBE_PAUSE_MS : this.#pauseMs;
  }

  /** Whether to probe now. `silentSince` is the time of the last data while requests wait; null when none wait. */
  isProbeDue(silentSince: number | null): boolean {
    if (this.#isProbing) return false;
    if (this.#state !== 'alive') return this.waitMs === 0;
    return silentSince !== null && this.#now() - Math.max(silentSince, this.#probedAt) >= SILENCE_MS;
  }

  /** Whether to probe now although no requests wait, because calls failed to connect. */
  get isRecoveryProbeDue(): boolean {
    return !this.#isProbing && this.#state === 'alive' && this.#now() - this.#probedAt >= RECOVERY_PROBE_MS;
  }

  beginProbe(): void {
    this.#isProbing = true;
    this.#isProbeRequested = this.#hasData = false;
    this.#probedAt = this.#now();
  }

  /** Records a failed probe of an upstream for which no requests wait. It shows nothing new. */
  recordFailedRecovery(): void {
    this.#isProbing = false;
  }

  /** Returns whether `isDown` has changed. */
  recordProbe(result: ProbeResult): boolean {
    this.#isProbing = false;
    const wasDown = this.isDown;
    if (result === 'alive' || (this.#hasData && !wasDown)) {
      this.#restore();
      return wasDown;
    }
    if (wasDown) {
      this.#pauseMs = Math.min(MAX_PROBE_PAUSE_MS, this.#pauseMs * 2);
      if (result !== 'failed') this.#cause = DOWN_CAUSES[result];
      return false;
    }
    if (result === 'failed' && this.#state === 'alive') {
      this.#state = 'suspected';
      return false;
    }
    this.#state = 'down';
    this.#pauseMs = SECOND_PROBE_MS;
    this.#cause = DOWN_CAUSES[result];
    return true;
  }

  /** Data of a response arrived, or its model list was read. While it is down, a probe is due soon. */
  recordData(): void {
    this.#hasData = true;
    if (this.#state === 'suspected') this.#restore();
    else if (this.#state === 'down') this.#isProbeRequested = true;
  }

  /** A request was refused because it is down. A probe is due soon. */
  requestProbe(): void {
    if (this.isDown) this.#isProbeRequested = true;
  }

  #restore(): void {
    this.#state = 'alive';
    this.#cause = null;
    this.#isProbeRequested = false;
  }
}
