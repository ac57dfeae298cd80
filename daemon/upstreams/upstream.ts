import type { UpstreamHealth } from '../contract/upstreams.ts';
import { ActiveCalls } from './active-calls.ts';
import { type CallEnd, type Meaning, meaningOf } from './call-meaning.ts';
import type { Blockage, CallPass } from './call-permission.ts';
import { CircuitBreaker, FAILURES } from './circuit-breaker.ts';
import { faultOf } from './connection-error.ts';
import type { ListClocks, Listing } from './listing.ts';
import { Liveness, type ProbeResult } from './liveness.ts';
import { ModelBreakers } from './model-breakers.ts';
import { filterModels, fixedModels, type UpstreamModel } from './model-list.ts';
import { keyMissing, keyNotSet } from './refusals.ts';
import type { UpstreamConfig } from './upstream-file.ts';

/**
 * The settings and key with which a call was sent. Its result applies to the key only while both are
 * unchanged.
 */
export interface CallCredentials {
  readonly config: UpstreamConfig;
  /** Empty when there is none. */
  readonly key: string;
}

/** One call whose end is recorded. */
export interface EndedCall {
  /** Null for a call without permission. */
  readonly pass: CallPass | null;
  readonly sent: CallCredentials;
  /** Empty when the call names none. */
  readonly model: string;
  /** The status of a response was received. */
  readonly hasStatus: boolean;
  /** Position among all calls of the upstream. */
  readonly number: number;
}

export interface UpstreamDeps {
  readonly clocks: ListClocks;
  /** A variable of the environment, now. */
  environment(name: string): string | undefined;
  /** Whether this address is certainly our own. */
  isSelf(config: UpstreamConfig): boolean;
}

const KEY = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
/** How long a busy upstream is ranked after others with the same model. */
const BUSY_MS = 5_000;
/**
 * How long an upstream that cannot count tokens is not tried again. It may be updated, or another program may
 * have responded.
 */
const NO_TOKEN_COUNT_MS = 3_600_000;
const REFUSED = 'It refused the key of this gateway.';

/** The state of one upstream: settings, list, and the results of its responses. */
export class Upstream {
  /** Counts lost connections, silence and failed lists. */
  readonly breaker: CircuitBreaker;
  /** Count failures of calls that received a status. */
  readonly modelBreakers: ModelBreakers;
  readonly activeCalls: ActiveCalls;
  /** Whether it responds to probes while requests wait. */
  readonly liveness: Liveness;
  readonly listing: Listing;
  /** Its place among equally busy upstreams: rises by 1 / weight with each call. */
  turn = 0;
  readonly #deps: UpstreamDeps;
  #config: UpstreamConfig;
  #models: { from: readonly UpstreamModel[]; wanted: readonly UpstreamModel[] } | null = null;
  /** Whether it has responded since the start. */
  #hasResponded = false;
  /** The last key that it refused; empty for none. */
  #refusedKey: string | null = null;
  /** The last key that it accepted; empty for none. */
  #acceptedKey: string | null = null;
  /** Whether its last list response came from this gateway. */
  #loopDetected = false;
  /** The credentials with which it reported that it cannot count tokens, and until when that is assumed. */
  #noTokenCount: { readonly sent: CallCredentials; readonly until: number } | null = null;
  #busyUntil = Number.NEGATIVE_INFINITY;
  /** Number of calls that had started before the last busy answer. */
  #startedBeforeBusy = 0;
  #reason: string | null = null;

  constructor(config: UpstreamConfig, listing: Listing, deps: UpstreamDeps) {
    this.#config = config;
    this.#deps = deps;
    this.listing = listing;
    const now = () => deps.clocks.monotonic();
    this.breaker = new CircuitBreaker(now);
    this.modelBreakers = new ModelBreakers(now);
    this.activeCalls = new ActiveCalls(now);
    this.liveness = new Liveness(now);
  }

  get config(): UpstreamConfig {
    return this.#config;
  }

  /** Applies new settings for the same address. */
  configure(config: UpstreamConfig): void {
    this.#config = config;
    this.#models = null;
    this.#refusedKey = null;
    this.#acceptedKey = null;
    this.#loopDetected = false;
    this.listing.resetBackoff();
  }

  /** Its models after the filters of its file. */
  get models(): readonly UpstreamModel[] {
    const from = this.listing.models;
    if (this.#models?.from !== from) this.#models = { from, wanted: this.#wanted(from) };
    return this.#models.wanted;
  }

  #wanted(models: readonly UpstreamModel[]): readonly UpstreamModel[] {
    const fixed = this.#config.models;
    return filterModels(fixed === null ? models : fixedModels(fixed), this.#config);
  }

  /** Whether its list is missing or outdated, and may be requested now. */
  isCold(maxAgeMs: number): boolean {
    if (this.#config.models !== null || this.listing.isFresh(maxAgeMs)) return false;
    const isReachable = this.breaker.waitMs === 0 && !this.liveness.isDown;
    return this.listing.isDue && isReachable && !this.isSelf;
  }

  /** Whether its address is certainly that of this gateway. */
  get isSelf(): boolean {
    return this.#deps.isSelf(this.#config);
  }

  get isLooping(): boolean {
    return this.#loopDetected || this.isSelf;
  }

  get health(): UpstreamHealth {
    if (!this.#config.enabled) return 'disabled';
    if (this.isLooping) return 'loop';
    if (this.#refused) return 'auth_failed';
    if (this.breaker.isOpen || this.liveness.isDown) return 'down';
    if (this.liveness.isSuspected) return 'failing';
    if (!this.breaker.isHealthy || this.modelBreakers.failing.size > 0) return 'failing';
    return this.#restHealth;
  }

  /** Whether it answered 429 or 503 less than 5 s ago, and no call that started later has succeeded. */
  get isBusy(): boolean {
    return this.#deps.clocks.monotonic() < this.#busyUntil;
  }

  get #restHealth(): UpstreamHealth {
    if (this.isBusy) return 'busy';
    return this.#hasResponded ? 'ok' : 'unknown';
  }

  /** Whether it can take calls for models that are not failing. A busy one can. */
  get isAvailable(): boolean {
    if (this.liveness.isSuspected) return false;
    const { health } = this;
    const rest = health === 'failing' && this.breaker.isHealthy ? this.#restHealth : health;
    return rest === 'ok' || rest === 'unknown' || rest === 'busy';
  }

  /** Returns what blocks a call for a model now; null when it is permitted. */
  blockage(model: string, hasAlternative: () => boolean): Blockage | null {
    const ofModel = this.modelBreakers.get(model);
    if (!this.breaker.isOpen && ofModel?.isOpen !== true) return null;
    const other = hasAlternative();
    const waits: Blockage[] = [
      { breaker: this.breaker, model: null, waitMs: this.breaker.waitMsFor(other) },
      ...(ofModel ? [{ breaker: ofModel, model, waitMs: ofModel.waitMsFor(other) }] : []),
    ];
    return waits.sort((a, b) => b.waitMs - a.waitMs).find(({ waitMs }) => waitMs > 0) ?? null;
  }

  /** Returns the permissions of a call that nothing blocks. */
  admit(model: string, hasAlternative: () => boolean): CallPass {
    const ofModel = this.modelBreakers.get(model);
    const other = (this.breaker.isOpen || ofModel?.isOpen === true) && hasAlternative();
    return { upstream: this.breaker.admit(other), model: ofModel?.admit(other) ?? null };
  }

  /** Why it is not healthy, in one sentence; null when it is. */
  get reason(): string | null {
    const { health } = this;
    if (health === 'loop') return 'Its address leads back to this gateway.';
    if (health === 'busy') return 'It is overloaded, or loading a model.';
    if (health === 'auth_failed') return this.key === null ? keyMissing(this.#config) : REFUSED;
    return health === 'failing' || health === 'down' || health === 'unknown'
      ? (this.liveness.cause ?? this.#reason ?? this.modelBreakers.cause)
      : null;
  }

  /** The usable key from its variable; null without one. */
  get key(): string | null {
    const { keyEnv } = this.#config;
    const value = keyEnv === null ? undefined : this.#deps.environment(keyEnv)?.trim();
    return value !== undefined && KEY.test(value) ? value : null;
  }

  /** What is sent now. */
  get currentCredentials(): CallCredentials {
    return { config: this.#config, key: this.key ?? '' };
  }

  #isOutdated({ config, key }: CallCredentials): boolean {
    return config !== this.#config || key !== (this.key ?? '');
  }

  get #refused(): boolean {
    return this.#refusedKey !== null && this.#refusedKey === (this.key ?? '');
  }

  /** Whether it accepted the current key. A 403 concerns the single request then. */
  get acceptsKey(): boolean {
    return this.#acceptedKey === (this.key ?? '');
  }

  /**
   * Whether it may count tokens: it has not reported the opposite recently, with its current settings and
   * key.
   */
  get countsTokens(): boolean {
    const hasNoTokenCount = this.#noTokenCount;
    return (
      hasNoTokenCount === null ||
      this.#deps.clocks.monotonic() >= hasNoTokenCount.until ||
      this.#isOutdated(hasNoTokenCount.sent)
    );
  }

  /** Clears a refused key after the key changed. */
  refreshKey(): void {
    if (this.#refusedKey === null || this.#refused) return;
    this.#refusedKey = null;
    this.listing.resetBackoff();
  }

  /** Whether a key is configured but not set. */
  get isKeyMissing(): boolean {
    return this.#config.keyEnv !== null && this.key === null;
  }

  /** Returns the header with its key. Throws `upstream.auth_failed` when a configured key is not set. */
  credential(): Record<string, string> {
    const { keyEnv, header } = this.#config;
    if (keyEnv === null) return {};
    const { key } = this;
    if (key === null) {
      this.recordKeyRefused(this.currentCredentials);
      throw keyNotSet();
    }
    return header === null ? { authorization: `Bearer ${key}` } : { [header.toLowerCase()]: key };
  }

  /** Its response showed that it is this gateway. An indirect address may change later. */
  recordLoop(): void {
    this.#loopDetected = true;
    this.listing.recordFailure();
  }

  /** The list response came from another server. */
  clearLoop(): void {
    this.#loopDetected = false;
  }

  /** Records a list or a response to its request. Only a `good` response shows that the key is accepted. */
  recordListResponse(good: boolean, sent: CallCredentials): void {
    if (good) this.#recordKeyAccepted(sent);
    this.#clearReason();
    this.breaker.recordReachable();
    this.modelBreakers.recordReachable();
    this.liveness.recordData();
  }

  /** Records the result of a probe. A good one restores an upstream that was down. */
  recordProbe(result: ProbeResult): void {
    const changed = this.liveness.recordProbe(result);
    if (result !== 'alive') return;
    if (changed || !this.breaker.isHealthy) this.#clearReason();
    this.breaker.recordReachable();
  }

  /** Records a failed list; `broken` when it concerns calls too. */
  recordListFailure(reason: string, broken?: unknown): void {
    this.listing.recordFailure();
    this.#reason = reason;
    if (broken === undefined) return;
    const context = { cause: reason, isReceiving: this.activeCalls.isReceiving };
    this.breaker.recordFailure(faultOf(broken).kind, null, context);
  }

  /** Records that it refused the key, or that there was none to send. */
  recordKeyRefused(sent: CallCredentials): void {
    if (this.#isOutdated(sent)) return;
    this.#refusedKey = sent.key;
    this.listing.recordFailure();
  }

  /** Records the status of a response that has started. */
  recordResponseStart(status: number, model: string): void {
    if (status >= 500) return;
    this.breaker.recordResponseStart();
    this.modelBreakers.get(model)?.recordResponseStart();
  }

  /** Records the end of a call. */
  recordEnd(end: CallEnd, call: EndedCall): void {
    const { sent } = call;
    const { monotonic } = this.#deps.clocks;
    if (end !== null && 'lacks' in end) this.#noTokenCount = { sent, until: monotonic() + NO_TOKEN_COUNT_MS };
    const meaning = meaningOf(end, call.hasStatus);
    this.#recordHealth(meaning, end, call);
    if (meaning.is === 'busy') {
      this.#startedBeforeBusy = this.activeCalls.started;
      this.#busyUntil = monotonic() + BUSY_MS;
    }
    if (meaning.is === 'refused' || (meaning.is === 'forbidden' && !this.acceptsKey))
      this.recordKeyRefused(sent);
    if (meaning.is === 'failed') this.#reason = meaning.reason;
    if (meaning.is !== 'ok') return;
    if (!this.#isOutdated(sent)) this.#refusedKey = null;
    if (meaning.good) this.#recordKeyAccepted(sent);
    this.#clearReason();
    // An answer to an older call does not show that there is capacity now.
    if (call.number > this.#startedBeforeBusy) this.#busyUntil = Number.NEGATIVE_INFINITY;
  }

  /** Updates both breakers. A status shows that the upstream is reachable, whatever it says about the model. */
  #recordHealth(meaning: Meaning, end: CallEnd, { pass, model }: EndedCall): void {
    if (meaning.is === 'ok') {
      this.breaker.recordSuccess();
      this.modelBreakers.recordSuccess(model);
      return;
    }
    const failure = meaning.is === 'failed' ? meaning : null;
    const scope = failure === null ? null : FAILURES[failure.kind].scope;
    const context = { cause: failure?.reason, isReceiving: this.activeCalls.isReceiving };
    const upstreamPass = pass?.upstream ?? null;
    if (end !== null && 'status' in end) this.breaker.recordReachable();
    else if (failure !== null && scope === 'upstream')
      this.breaker.recordFailure(failure.kind, upstreamPass, context);
    else this.breaker.recordNeutral(upstreamPass);
    if (failure !== null && scope === 'model')
      this.modelBreakers.obtain(model).recordFailure(failure.kind, pass?.model ?? null, context);
    else this.modelBreakers.get(model)?.recordNeutral(pass?.model ?? null);
  }

  #recordKeyAccepted(sent: CallCredentials): void {
    if (this.#isOutdated(sent)) return;
    this.#acceptedKey = sent.key;
    this.#refusedKey = null;
  }

  /** It has responded, so earlier failures no longer count. */
  #clearReason(): void {
    this.#hasResponded = true;
    this.#reason = null;
  }
}
