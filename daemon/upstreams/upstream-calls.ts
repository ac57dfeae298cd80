import type { GatewayError } from '../contract/errors.ts';
import type { Pass } from './circuit-breaker.ts';
import type { DailyCounts } from './daily-quota.ts';
import { faultOf } from './fault.ts';
import { HOPS_HEADER, nextHops } from './hops.ts';
import type { CallOptions, UpstreamCall } from './port.ts';
import { cannotCountTokens, capReached, keyNotSet, leftAlone, loop, unavailable } from './refusals.ts';
import type { CallEnd, Sent, Upstream } from './upstream.ts';

const NATIVE_RERANK: ReadonlySet<string> = new Set(['llama-server', 'vllm']);
/** A list that is older than this is asked for anew when the upstream says that a model is not there. */
const DOUBT_AFTER_MS = 10_000;

/** How a call was made. */
interface Made {
  readonly pass: Pass | null;
  readonly sent: Sent;
}

export interface UpstreamCallsParts {
  /** By which this gateway is known among others. */
  readonly instance: string;
  readonly all: ReadonlyMap<string, Upstream>;
  readonly daily: DailyCounts;
  /** Asks one for its list in the background. */
  readSoon(upstream: Upstream): void;
  maxAgeMs(): number;
  /** Its health may have changed. */
  announce(upstream: Upstream): void;
}

/** Calls of upstreams: which may be made, with what, and what their ends say of whom they asked. */
export class UpstreamCalls {
  readonly #parts: UpstreamCallsParts;

  constructor(parts: UpstreamCallsParts) {
    this.#parts = parts;
  }

  /** See `AllUpstreams.connect`. */
  connect(name: string, { hops, test = false, count = false }: CallOptions = {}): UpstreamCall {
    const upstream = this.#parts.all.get(name);
    if (!upstream || (!upstream.config.enabled && !test)) throw unavailable('The upstream is gone.');
    const next = nextHops(hops, this.#parts.instance);
    if (upstream.loops || next === null) throw loop(next === null);
    const { sent } = upstream;
    const headers = { ...upstream.credential(), [HOPS_HEADER]: next };
    if (count && !upstream.counts) throw cannotCountTokens();
    if (this.spent(upstream)) throw capReached(this.#parts.daily.secondsLeft());
    const pass = test ? null : upstream.breaker.admit();
    if (!test && pass === null) throw leftAlone(upstream.breaker.waitMs);
    this.#parts.daily.add(name, 1, upstream.config.dailyRequests !== null);
    this.#lookAround(upstream);
    const { at, kind, remote, connectTimeoutS, idleTimeoutS } = upstream.config;
    return {
      origin: at.origin,
      base: at.base,
      headers,
      nativeRerank: NATIVE_RERANK.has(kind),
      teiRerank: kind === 'tei',
      remote,
      connectMs: connectTimeoutS === null ? null : connectTimeoutS * 1000,
      idleMs: idleTimeoutS === null ? null : idleTimeoutS * 1000,
      begun: (status) => this.#begun(upstream, status),
      ended: (end) => this.#ended(upstream, end, { pass, sent }),
    };
  }

  /** See `AllUpstreams.refusal`. */
  refusal(name: string): GatewayError | null {
    const upstream = this.#parts.all.get(name);
    if (!upstream?.config.enabled) return unavailable('The upstream is gone.');
    if (upstream.loops) return loop(false);
    if (upstream.keyMissing) return keyNotSet();
    if (this.spent(upstream)) return capReached(this.#parts.daily.secondsLeft());
    const { waitMs } = upstream.breaker;
    return waitMs > 0 ? leftAlone(waitMs) : null;
  }

  /** Its share of the day is used up. */
  spent({ config }: Upstream): boolean {
    return config.dailyRequests !== null && this.#parts.daily.of(config.name) >= config.dailyRequests;
  }

  /** It was removed, or moved to another address: what it still says is nobody's state any more. */
  isGone(upstream: Upstream): boolean {
    return this.#parts.all.get(upstream.config.name) !== upstream;
  }

  #begun(upstream: Upstream, status: number): void {
    if (!upstream.breaker.open || this.isGone(upstream)) return;
    upstream.begun(status);
    this.#parts.announce(upstream);
  }

  #ended(upstream: Upstream, end: CallEnd, { pass, sent }: Made): void {
    const { name, dailyRequests } = upstream.config;
    upstream.ended(end, pass, sent);
    if (isNoRequest(end)) {
      this.#parts.daily.add(name, -1, dailyRequests !== null);
    }
    if (this.isGone(upstream)) return;
    const doubtful = end !== null && 'status' in end && end.status === 404;
    if (doubtful && !upstream.listing.fresh(DOUBT_AFTER_MS)) this.#parts.readSoon(upstream);
    this.#parts.announce(upstream);
  }

  /** A call is made, so somebody is there: lists that grow old and upstreams that are down are looked at meanwhile. */
  #lookAround(called: Upstream): void {
    for (const upstream of this.#parts.all.values()) {
      const { enabled, models } = upstream.config;
      if (!enabled || upstream.isSelf || !upstream.listing.due || upstream.breaker.waitMs > 0) continue;
      const old = models === null && !upstream.listing.fresh(this.#parts.maxAgeMs());
      if ((upstream === called && old) || (upstream !== called && upstream.breaker.open))
        this.#parts.readSoon(upstream);
    }
  }
}

/** It was never sent, or was about what is not there: nobody has worked for it. */
const isNoRequest = (end: CallEnd): boolean =>
  end !== null && ('lacks' in end || ('failed' in end && faultOf(end.failed).unsent));
