import type { GatewayError } from '../contract/errors.ts';
import type { Pass } from './circuit-breaker.ts';
import { faultOf } from './connection-error.ts';
import type { DailyQuota } from './daily-quota.ts';
import { HOPS_HEADER, nextHops } from './hops.ts';
import type { CallOptions, UpstreamCall } from './port.ts';
import {
  cannotCountTokens,
  circuitOpen,
  keyNotSet,
  loopDetected,
  quotaExceeded,
  unavailable,
} from './refusals.ts';
import type { CallCredentials, CallEnd, Upstream } from './upstream.ts';

const NATIVE_RERANK: ReadonlySet<string> = new Set(['llama-server', 'vllm']);
/** An older list is requested again when the upstream reports a missing model. */
const REFRESH_AFTER_MS = 10_000;

/** Pass and credentials of a call. */
interface CallRecord {
  readonly pass: Pass | null;
  readonly sent: CallCredentials;
}

export interface UpstreamCallsDeps {
  /** The instance name of this gateway. */
  readonly instance: string;
  readonly all: ReadonlyMap<string, Upstream>;
  readonly daily: DailyQuota;
  /** Asks one for its list in the background. */
  readInBackground(upstream: Upstream): void;
  maxAgeMs(): number;
  /** Its health may have changed. */
  notifyChange(upstream: Upstream): void;
}

/** Calls to upstreams: which are permitted, with which credentials, and what their results mean. */
export class UpstreamCalls {
  readonly #deps: UpstreamCallsDeps;

  constructor(deps: UpstreamCallsDeps) {
    this.#deps = deps;
  }

  /** See `AllUpstreams.connect`. */
  connect(name: string, { hops, isTest = false, isTokenCount = false }: CallOptions = {}): UpstreamCall {
    const upstream = this.#deps.all.get(name);
    if (!upstream || (!upstream.config.enabled && !isTest))
      throw unavailable('The upstream was removed or disabled.');
    const next = nextHops(hops, this.#deps.instance);
    if (upstream.isLooping || next === null) throw loopDetected(next === null);
    const { currentCredentials } = upstream;
    const headers = { ...upstream.credential(), [HOPS_HEADER]: next };
    if (isTokenCount && !upstream.countsTokens) throw cannotCountTokens();
    if (this.isQuotaExceeded(upstream)) throw quotaExceeded(this.#deps.daily.secondsLeft());
    const pass = isTest ? null : upstream.breaker.admit();
    if (!isTest && pass === null) throw circuitOpen(upstream.breaker.waitMs);
    this.#deps.daily.add(name, 1, upstream.config.dailyRequests !== null);
    this.#refreshOthers(upstream);
    const { at, kind, remote, connectTimeoutS, idleTimeoutS } = upstream.config;
    return {
      origin: at.origin,
      base: at.base,
      headers,
      nativeRerank: NATIVE_RERANK.has(kind),
      teiRerank: kind === 'tei',
      streamUsage: upstream.config.streamUsage,
      remote,
      connectMs: connectTimeoutS === null ? null : connectTimeoutS * 1000,
      idleMs: idleTimeoutS === null ? null : idleTimeoutS * 1000,
      onResponse: (status) => this.#onResponseStart(upstream, status),
      onEnd: (end) => this.#ended(upstream, end, { pass, sent: currentCredentials }),
    };
  }

  /** See `AllUpstreams.refusal`. */
  refusal(name: string): GatewayError | null {
    const upstream = this.#deps.all.get(name);
    if (!upstream?.config.enabled) return unavailable('The upstream was removed or disabled.');
    if (upstream.isLooping) return loopDetected(false);
    if (upstream.isKeyMissing) return keyNotSet();
    if (this.isQuotaExceeded(upstream)) return quotaExceeded(this.#deps.daily.secondsLeft());
    const { waitMs } = upstream.breaker;
    return waitMs > 0 ? circuitOpen(waitMs) : null;
  }

  /** Whether its daily limit is reached. */
  isQuotaExceeded({ config }: Upstream): boolean {
    return config.dailyRequests !== null && this.#deps.daily.of(config.name) >= config.dailyRequests;
  }

  /** Whether it was removed or moved to another address. Its results are ignored then. */
  isRemoved(upstream: Upstream): boolean {
    return this.#deps.all.get(upstream.config.name) !== upstream;
  }

  #onResponseStart(upstream: Upstream, status: number): void {
    if (!upstream.breaker.isOpen || this.isRemoved(upstream)) return;
    upstream.recordResponseStart(status);
    this.#deps.notifyChange(upstream);
  }

  #ended(upstream: Upstream, end: CallEnd, { pass, sent }: CallRecord): void {
    const { name, dailyRequests } = upstream.config;
    upstream.recordEnd(end, pass, sent);
    if (isUncounted(end)) {
      this.#deps.daily.add(name, -1, dailyRequests !== null);
    }
    if (this.isRemoved(upstream)) return;
    const doubtful = end !== null && 'status' in end && end.status === 404;
    if (doubtful && !upstream.listing.isFresh(REFRESH_AFTER_MS)) this.#deps.readInBackground(upstream);
    this.#deps.notifyChange(upstream);
  }

  /** Uses a call as a sign of activity: refreshes outdated lists and upstreams that are down. */
  #refreshOthers(called: Upstream): void {
    for (const upstream of this.#deps.all.values()) {
      const { enabled, models } = upstream.config;
      if (!enabled || upstream.isSelf || !upstream.listing.isDue || upstream.breaker.waitMs > 0) continue;
      const old = models === null && !upstream.listing.isFresh(this.#deps.maxAgeMs());
      if ((upstream === called && old) || (upstream !== called && upstream.breaker.isOpen))
        this.#deps.readInBackground(upstream);
    }
  }
}

/** Returns true for a call that was never sent or that the upstream does not support. It does not count. */
const isUncounted = (end: CallEnd): boolean =>
  end !== null && ('lacks' in end || ('failed' in end && faultOf(end.failed).isUnsent));
