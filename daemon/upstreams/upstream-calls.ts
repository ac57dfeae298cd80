import type { GatewayError } from '../contract/errors.ts';
import type { ActiveCall } from './active-calls.ts';
import type { CallEnd } from './call-meaning.ts';
import type { CallPass } from './call-permission.ts';
import { faultOf } from './connection-error.ts';
import type { DailyQuota } from './daily-quota.ts';
import { HOPS_HEADER, nextHops } from './hops.ts';
import type { CallOptions, CallTarget, UpstreamCall } from './port.ts';
import { countsChats, PROVIDER_KINDS, rankingSupport, serverRoot } from './provider-kinds.ts';
import {
  cannotCountTokens,
  circuitOpen,
  keyNotSet,
  loopDetected,
  notResponding,
  quotaExceeded,
  unavailable,
} from './refusals.ts';
import type { CallCredentials, Upstream } from './upstream.ts';

/** An older list is requested again when the upstream reports a missing model. */
const REFRESH_AFTER_MS = 10_000;

/** One call in progress. */
interface CallRecord {
  readonly pass: CallPass | null;
  readonly sent: CallCredentials;
  readonly model: string;
  readonly active: ActiveCall;
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
  /** A call begins or is refused. */
  watch(): void;
  /** Calls for a model of it are paused, or permitted again. */
  notifyPause(upstream: Upstream, model: string, isPaused: boolean): void;
}

/** Calls to upstreams: which are permitted, with which credentials, and what their results mean. */
export class UpstreamCalls {
  readonly #deps: UpstreamCallsDeps;
  /** The turn of the last call. */
  #turn = 0;

  constructor(deps: UpstreamCallsDeps) {
    this.#deps = deps;
  }

  /** See `AllUpstreams.connect`. */
  connect(name: string, options: CallOptions = {}): UpstreamCall {
    const { hops, isTest = false, isTokenCount = false, model = '', isBound = false } = options;
    const upstream = this.#deps.all.get(name);
    if (!upstream || (!upstream.config.enabled && !isTest))
      throw unavailable('The upstream was removed or disabled.');
    const next = nextHops(hops, this.#deps.instance);
    if (upstream.isLooping || next === null) throw loopDetected(next === null);
    const { currentCredentials } = upstream;
    const headers = { ...upstream.credential(), [HOPS_HEADER]: next };
    const listed = upstream.models.find(({ id }) => id === model);
    if (isTokenCount && !(upstream.countsTokens && countsChats(upstream.config.kind, listed)))
      throw cannotCountTokens();
    if (this.isQuotaExceeded(upstream)) throw quotaExceeded(this.#deps.daily.secondsLeft());
    this.#deps.watch();
    if (!isTest && upstream.liveness.isDown) {
      upstream.liveness.requestProbe();
      throw notResponding(name, upstream.liveness);
    }
    const hasAlternative = () => !isBound && this.#hasAlternative(upstream, model);
    const blockage = isTest ? null : upstream.blockage(model, hasAlternative);
    if (blockage !== null) throw circuitOpen(name, blockage);
    const pass = isTest ? null : upstream.admit(model, hasAlternative);
    this.#deps.daily.add(name, 1, upstream.config.dailyRequests !== null);
    this.#takeTurn(upstream);
    this.#refreshOthers(upstream);
    const record = { pass, sent: currentCredentials, model, active: upstream.activeCalls.begin() };
    const { at, kind, remote, connectTimeoutS, idleTimeoutS } = upstream.config;
    const { countPath, continuesOnRequest } = PROVIDER_KINDS[kind];
    return {
      origin: at.origin,
      base: at.base,
      headers,
      ...rankingSupport(kind, listed),
      countPath: countPath && `${serverRoot(at.base)}${countPath}`,
      streamUsage: upstream.config.streamUsage,
      sendsAppName: upstream.config.sendAppName,
      continuesOnRequest,
      remote,
      connectMs: connectTimeoutS === null ? null : connectTimeoutS * 1000,
      idleMs: idleTimeoutS === null ? null : idleTimeoutS * 1000,
      onResponse: (status) => this.#onResponseStart(upstream, status, record),
      onData: () => this.#onData(upstream, record.active),
      onDown: (listener) => {
        record.active.onDown = listener;
      },
      onEnd: (end) => this.#ended(upstream, end, record),
    };
  }

  /**
   * Moves it behind equally busy upstreams, by its weight. One that had no calls for a while starts where the
   * others are, so that it does not get all of the next ones.
   */
  #takeTurn(upstream: Upstream): void {
    const turn = Math.max(upstream.turn, this.#turn);
    this.#turn = turn;
    upstream.turn = turn + 1 / upstream.config.weight;
  }

  /** See `AllUpstreams.refusal`. */
  refusal(name: string, { model = '', isBound = false }: CallTarget = {}): GatewayError | null {
    const upstream = this.#deps.all.get(name);
    if (!upstream?.config.enabled) return unavailable('The upstream was removed or disabled.');
    if (upstream.isLooping) return loopDetected(false);
    if (upstream.isKeyMissing) return keyNotSet();
    if (this.isQuotaExceeded(upstream)) return quotaExceeded(this.#deps.daily.secondsLeft());
    if (upstream.liveness.isDown) return notResponding(name, upstream.liveness);
    const hasAlternative = () => !isBound && this.#hasAlternative(upstream, model);
    const blockage = upstream.blockage(model, hasAlternative);
    return blockage === null ? null : circuitOpen(name, blockage);
  }

  /** Whether it can take calls for models that are not failing. A busy one can. */
  isAvailable(upstream: Upstream): boolean {
    return upstream.config.enabled && upstream.isAvailable && !this.isQuotaExceeded(upstream);
  }

  /** Milliseconds until the next call to it is permitted; null while its breaker is closed. */
  waitMs(upstream: Upstream): number | null {
    if (upstream.liveness.isDown) return upstream.liveness.waitMs;
    if (!upstream.breaker.isOpen) return null;
    const isShared = upstream.models.some(({ id }) => this.#hasAlternative(upstream, id));
    return upstream.breaker.waitMsFor(isShared);
  }

  /** Whether another upstream that is not busy can serve this model now. */
  #hasAlternative(upstream: Upstream, model: string): boolean {
    for (const other of this.#deps.all.values()) {
      if (other === upstream || !this.isAvailable(other) || other.isBusy) continue;
      if (other.modelBreakers.failing.has(model)) continue;
      if (other.models.some(({ id }) => id === model)) return true;
    }
    return false;
  }

  /** Whether its daily limit is reached. */
  isQuotaExceeded({ config }: Upstream): boolean {
    return config.dailyRequests !== null && this.#deps.daily.of(config.name) >= config.dailyRequests;
  }

  /** Whether it was removed or moved to another address. Its results are ignored then. */
  isRemoved(upstream: Upstream): boolean {
    return this.#deps.all.get(upstream.config.name) !== upstream;
  }

  #onData({ activeCalls, liveness }: Upstream, active: ActiveCall): void {
    activeCalls.recordData(active);
    liveness.recordData();
  }

  #onResponseStart(upstream: Upstream, status: number, { model, active }: CallRecord): void {
    this.#onData(upstream, active);
    const wasPaused = isPaused(upstream, model);
    if ((!upstream.breaker.isOpen && !wasPaused) || this.isRemoved(upstream)) return;
    upstream.recordResponseStart(status, model);
    this.#deps.notifyChange(upstream);
    this.#notifyPause(upstream, model, wasPaused);
  }

  #notifyPause(upstream: Upstream, model: string, wasPaused: boolean): void {
    const paused = isPaused(upstream, model);
    if (paused !== wasPaused) this.#deps.notifyPause(upstream, model, paused);
  }

  #ended(upstream: Upstream, end: CallEnd, { pass, sent, model, active }: CallRecord): void {
    const { name, dailyRequests } = upstream.config;
    const wasPaused = isPaused(upstream, model);
    upstream.activeCalls.end(active);
    const { number, lastDataAt } = active;
    upstream.recordEnd(end, { pass, sent, model, hasStatus: lastDataAt !== null, number });
    if (isUncounted(end)) {
      this.#deps.daily.add(name, -1, dailyRequests !== null);
    }
    if (this.isRemoved(upstream)) return;
    const doubtful = end !== null && 'status' in end && end.status === 404;
    if (doubtful && !upstream.listing.isFresh(REFRESH_AFTER_MS)) this.#deps.readInBackground(upstream);
    this.#deps.notifyChange(upstream);
    this.#notifyPause(upstream, model, wasPaused);
  }

  /** Uses a call as a sign of activity: refreshes outdated lists and upstreams that are down. */
  #refreshOthers(called: Upstream): void {
    for (const upstream of this.#deps.all.values()) {
      const { enabled, models } = upstream.config;
      if (!enabled || upstream.isSelf || !upstream.listing.isDue || upstream.breaker.waitMs > 0) continue;
      const old = models === null && !upstream.listing.isFresh(this.#deps.maxAgeMs());
      if (reportsLoad(upstream) && !upstream.listing.isFresh(REFRESH_AFTER_MS)) {
        this.#deps.readInBackground(upstream);
        continue;
      }
      if ((upstream === called && old) || (upstream !== called && upstream.breaker.isOpen))
        this.#deps.readInBackground(upstream);
    }
  }
}

/** Whether its model list says what is loaded and how much waits there, which changes with each call. */
const reportsLoad = ({ config, listing }: Upstream): boolean =>
  PROVIDER_KINDS[config.kind].isGateway && config.models === null && listing.models.length > 0;

/** Returns true for a call that was never sent or that the upstream does not support. It does not count. */
const isUncounted = (end: CallEnd): boolean =>
  end !== null && ('lacks' in end || ('failed' in end && faultOf(end.failed).isUnsent));

const isPaused = (upstream: Upstream, model: string): boolean =>
  upstream.modelBreakers.get(model)?.isOpen === true;
