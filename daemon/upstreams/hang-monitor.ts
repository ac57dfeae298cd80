import { type ProbeResult, SECOND_PROBE_MS, SILENCE_MS } from './liveness.ts';
import { PROBE_LIMIT_MS } from './probe.ts';
import { stoppedResponding } from './refusals.ts';
import type { Upstream } from './upstream.ts';

/** How often upstreams with calls in progress are checked. Milliseconds. */
const TICK_MS = 1_000;
/** Silence after which a running response of an upstream that is down ends. Milliseconds. */
export const STREAM_SILENCE_MS = 30_000;
/**
 * The longest wait of a request at an upstream that stopped responding: the silence, two probes, the second one up to its limit,
 * and up to one check late for each. Milliseconds.
 */
export const MAX_DETECTION_MS = SILENCE_MS + SECOND_PROBE_MS + PROBE_LIMIT_MS + 2 * TICK_MS;

export interface HangMonitorDeps {
  upstreams(): Iterable<Upstream>;
  /** Never rejects. */
  probe(upstream: Upstream): Promise<ProbeResult>;
  /** Its health may have changed. */
  notifyChange(upstream: Upstream): void;
  /** Overrides the interval of the checks, for tests. */
  readonly tickMs?: number;
}

/**
 * Finds upstreams that accept requests but no longer respond, for example because their machine is suspended
 * (docs/spec/contract.md#hang-probe). Ends their waiting calls when two probes have failed, and their running
 * responses after 30 s of silence. Finds an upstream that responds again after failed connections. Runs only while
 * calls are in progress or an upstream is not healthy. Does not keep the process alive.
 */
export class HangMonitor {
  readonly #deps: HangMonitorDeps;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: HangMonitorDeps) {
    this.#deps = deps;
  }

  /** Call this when a call begins or is refused. */
  watch(): void {
    this.#timer ??= setInterval(() => this.tick(), this.#deps.tickMs ?? TICK_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Checks all upstreams once. */
  tick(): void {
    let isNeeded = false;
    for (const upstream of this.#deps.upstreams()) {
      const { config, liveness, activeCalls, breaker } = upstream;
      if (!config.enabled || !config.hangProbe) continue;
      const hasFailed = !breaker.isHealthy;
      if (activeCalls.count > 0 || liveness.isDown || liveness.isSuspected || hasFailed) isNeeded = true;
      if (liveness.isProbeDue(activeCalls.silentSince)) void this.#probe(upstream);
      else if (hasFailed && breaker.waitMs === 0 && liveness.isRecoveryProbeDue)
        void this.#probeRecovery(upstream);
      if (liveness.isDown) endCalls(upstream);
    }
    if (!isNeeded) this.stop();
  }

  /**
   * Probes an upstream that failed. The first response closes its circuit breaker, the second one shows that it is healthy,
   * before a caller has to try it.
   */
  async #probeRecovery(upstream: Upstream): Promise<void> {
    upstream.liveness.beginProbe();
    if ((await this.#deps.probe(upstream)) !== 'alive') {
      upstream.liveness.recordFailedRecovery();
      return;
    }
    upstream.recordProbe('alive');
    this.#deps.notifyChange(upstream);
  }

  async #probe(upstream: Upstream): Promise<void> {
    upstream.liveness.beginProbe();
    const result = await this.#deps.probe(upstream);
    upstream.recordProbe(result);
    if (upstream.liveness.isDown) endCalls(upstream);
    this.#deps.notifyChange(upstream);
  }
}

function endCalls({ config, liveness, activeCalls }: Upstream): void {
  activeCalls.endSilent(STREAM_SILENCE_MS, (isWaiting) =>
    stoppedResponding(config.name, liveness.cause, isWaiting),
  );
}
