import type { UpstreamHealth } from '../contract/upstreams.ts';
import { CircuitBreaker, type FailureKind, type Pass } from './circuit-breaker.ts';
import { faultOf } from './connection-error.ts';
import type { ListClocks, Listing } from './listing.ts';
import { filterModels, fixedModels, type UpstreamModel } from './model-list.ts';
import { keyNotSet } from './refusals.ts';
import type { UpstreamConfig } from './upstream-file.ts';

/**
 * How one call ended: the status of the response, the error of the connection, a missing route (which says
 * nothing about health or key), or null without information.
 */
export type CallEnd =
  | { readonly status: number }
  | { readonly failed: unknown }
  | { readonly lacks: 'count' }
  | null;

/**
 * The settings and key with which a call was sent. Its result applies to the key only while both are
 * unchanged.
 */
export interface CallCredentials {
  readonly config: UpstreamConfig;
  /** Empty when there is none. */
  readonly key: string;
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
  readonly breaker: CircuitBreaker;
  readonly listing: Listing;
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
  #reason: string | null = null;

  constructor(config: UpstreamConfig, listing: Listing, deps: UpstreamDeps) {
    this.#config = config;
    this.#deps = deps;
    this.listing = listing;
    this.breaker = new CircuitBreaker(deps.clocks.monotonic);
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
    return this.listing.isDue && this.breaker.waitMs === 0 && !this.isSelf;
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
    if (this.breaker.isOpen) return 'down';
    if (!this.breaker.isHealthy) return 'failing';
    if (this.#deps.clocks.monotonic() < this.#busyUntil) return 'busy';
    return this.#hasResponded ? 'ok' : 'unknown';
  }

  /** Why it is not healthy, in one sentence; null when it is. */
  get reason(): string | null {
    const { health } = this;
    if (health === 'loop') return 'Its address leads back to this gateway.';
    if (health === 'busy') return 'It is overloaded, or loading a model.';
    if (health === 'auth_failed') return this.key === null ? 'Its key is not set.' : REFUSED;
    return health === 'failing' || health === 'down' || health === 'unknown' ? this.#reason : null;
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
  }

  /** Records a failed list; `broken` when it concerns calls too. */
  recordListFailure(reason: string, broken?: unknown): void {
    this.listing.recordFailure();
    this.#reason = reason;
    if (broken !== undefined) this.breaker.recordFailure(faultOf(broken).kind, null);
  }

  /** Records that it refused the key, or that there was none to send. */
  recordKeyRefused(sent: CallCredentials): void {
    if (this.#isOutdated(sent)) return;
    this.#refusedKey = sent.key;
    this.listing.recordFailure();
  }

  /** Records the status of a response that has started. */
  recordResponseStart(status: number): void {
    if (status < 500) this.breaker.recordResponseStart();
  }

  /** Records the end of a call that was made with this pass. */
  recordEnd(end: CallEnd, pass: Pass | null, sent: CallCredentials): void {
    if (end !== null && 'lacks' in end)
      this.#noTokenCount = { sent, until: this.#deps.clocks.monotonic() + NO_TOKEN_COUNT_MS };
    const meaning = meaningOf(end);
    if (meaning.is !== 'ok' && meaning.is !== 'failed') this.breaker.recordNeutral(pass);
    if (meaning.is === 'busy') this.#busyUntil = this.#deps.clocks.monotonic() + BUSY_MS;
    if (meaning.is === 'refused' || (meaning.is === 'forbidden' && !this.acceptsKey))
      this.recordKeyRefused(sent);
    if (meaning.is === 'failed') {
      this.#reason = meaning.reason;
      this.breaker.recordFailure(meaning.kind, pass);
    }
    if (meaning.is !== 'ok') return;
    if (!this.#isOutdated(sent)) this.#refusedKey = null;
    if (meaning.good) this.#recordKeyAccepted(sent);
    this.#clearReason();
    this.#busyUntil = Number.NEGATIVE_INFINITY;
    this.breaker.recordSuccess();
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

type Meaning =
  | { readonly is: 'nothing' | 'busy' | 'refused' | 'forbidden' }
  /** Not `good`: it found fault with the request. */
  | { readonly is: 'ok'; readonly good: boolean }
  | { readonly is: 'failed'; readonly kind: FailureKind; readonly reason: string };

/**
 * Returns what the end of a call means for an upstream. 429 and 503 mean busy, not broken: servers use them
 * to shed load or while loading, with or without a retry time. 403 may concern a single request only:
 * moderation, or a model that this key may not use.
 */
function meaningOf(end: CallEnd): Meaning {
  if (end === null || 'lacks' in end) return { is: 'nothing' };
  if ('failed' in end) {
    const { kind, message } = faultOf(end.failed);
    return { is: 'failed', kind, reason: message };
  }
  const { status } = end;
  if (status === 401) return { is: 'refused' };
  if (status === 403) return { is: 'forbidden' };
  if (status === 429 || status === 503) return { is: 'busy' };
  const bad = status >= 500 || (status >= 300 && status < 400);
  return bad
    ? { is: 'failed', kind: 'failing', reason: `It answered with status ${status}.` }
    : { is: 'ok', good: status < 300 };
}
