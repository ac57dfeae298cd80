import type { UpstreamHealth } from '../contract/upstreams.ts';
import { CircuitBreaker, type FailureKind, type Pass } from './circuit-breaker.ts';
import { faultOf } from './fault.ts';
import type { ListClocks, Listing } from './listing.ts';
import { filterModels, fixedModels, type UpstreamModel } from './model-list.ts';
import { keyNotSet } from './refusals.ts';
import type { UpstreamConfig } from './upstream-file.ts';

/**
 * How one call ended: the status of the upstream's answer, the error of the connection, that it has no such route (which is
 * no word about its health or its key), or null when it says nothing.
 */
export type CallEnd =
  | { readonly status: number }
  | { readonly failed: unknown }
  | { readonly lacks: 'count' }
  | null;

/** With what a call or a question was sent. What it says of the key counts only while that is still so. */
export interface CallCredentials {
  readonly config: UpstreamConfig;
  /** The empty text stands for none. */
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
/** How long one that was busy stands behind others with the same model. */
const BUSY_MS = 5_000;
/** How long one that cannot count is not asked: it may be updated, or have been another program for a moment. */
const NO_TOKEN_COUNT_MS = 3_600_000;
const REFUSED = 'It refused the key of this gateway.';

/** One upstream while the gateway runs: its settings, its list, and what its answers have shown. */
export class Upstream {
  readonly breaker: CircuitBreaker;
  readonly listing: Listing;
  readonly #deps: UpstreamDeps;
  #config: UpstreamConfig;
  #models: { from: readonly UpstreamModel[]; wanted: readonly UpstreamModel[] } | null = null;
  /** It has answered in this run. */
  #hasResponded = false;
  /** The key that it refused last; the empty text stands for none. */
  #refusedKey: string | null = null;
  /** The key that it took last; the empty text stands for none. */
  #acceptedKey: string | null = null;
  /** Its last answer for a list was our own. */
  #loopDetected = false;
  /** With what it was asked when it said that it cannot count tokens, and how long that is believed. */
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

  /** Takes new settings for the same address. */
  configure(config: UpstreamConfig): void {
    this.#config = config;
    this.#models = null;
    this.#refusedKey = null;
    this.#acceptedKey = null;
    this.#loopDetected = false;
    this.listing.resetBackoff();
  }

  /** What it serves, as far as its file lets in. */
  get models(): readonly UpstreamModel[] {
    const from = this.listing.models;
    if (this.#models?.from !== from) this.#models = { from, wanted: this.#wanted(from) };
    return this.#models.wanted;
  }

  #wanted(models: readonly UpstreamModel[]): readonly UpstreamModel[] {
    const fixed = this.#config.models;
    return filterModels(fixed === null ? models : fixedModels(fixed), this.#config);
  }

  /** Its list is missing or too old, and may be asked for now. */
  isCold(maxAgeMs: number): boolean {
    if (this.#config.models !== null || this.listing.isFresh(maxAgeMs)) return false;
    return this.listing.isDue && this.breaker.waitMs === 0 && !this.isSelf;
  }

  /** Its address is certainly our own: there is nothing to ask. */
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

  /** Why it is not well, in one sentence; null when it is. */
  get reason(): string | null {
    const { health } = this;
    if (health === 'loop') return 'Its address leads back to this gateway.';
    if (health === 'busy') return 'It is overloaded, or loading a model.';
    if (health === 'auth_failed') return this.key === null ? 'Its key is not set.' : REFUSED;
    return health === 'failing' || health === 'down' || health === 'unknown' ? this.#reason : null;
  }

  /** Whether a variable was named and holds a usable key; null without one. */
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

  /** It has answered well to the key of now, so what it forbids is a matter of the single request. */
  get acceptsKey(): boolean {
    return this.#acceptedKey === (this.key ?? '');
  }

  /** It may count tokens: it has not said of late, with its file and key of now, that it cannot. */
  get countsTokens(): boolean {
    const said = this.#noTokenCount;
    return said === null || this.#deps.clocks.monotonic() >= said.until || this.#isOutdated(said.sent);
  }

  /** A key that was refused counts no longer once it is another one. */
  refreshKey(): void {
    if (this.#refusedKey === null || this.#refused) return;
    this.#refusedKey = null;
    this.listing.resetBackoff();
  }

  /** A key is asked for and there is none. */
  get isKeyMissing(): boolean {
    return this.#config.keyEnv !== null && this.key === null;
  }

  /** The header with its key. Throws `upstream.auth_failed` when a key is asked for and there is none. */
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

  /** It is this gateway itself, as its own answer showed; a way round may lead elsewhere later. */
  recordLoop(): void {
    this.#loopDetected = true;
    this.listing.recordFailure();
  }

  /** The answer for a list was somebody else's. */
  clearLoop(): void {
    this.#loopDetected = false;
  }

  /** A list came, or the question for one was answered; only a `good` answer tells that it takes our key. */
  recordListResponse(good: boolean, sent: CallCredentials): void {
    if (good) this.#recordKeyAccepted(sent);
    this.#clearReason();
    this.breaker.recordReachable();
  }

  /** A list did not come; `broken` when that says something about calls too. */
  recordListFailure(reason: string, broken?: unknown): void {
    this.listing.recordFailure();
    this.#reason = reason;
    if (broken !== undefined) this.breaker.recordFailure(faultOf(broken).kind, null);
  }

  /** It refused the key that was sent, or there was none to send. */
  recordKeyRefused(sent: CallCredentials): void {
    if (this.#isOutdated(sent)) return;
    this.#refusedKey = sent.key;
    this.listing.recordFailure();
  }

  /** Takes in the status of an answer that has just begun. */
  recordResponseStart(status: number): void {
    if (status < 500) this.breaker.recordResponseStart();
  }

  /** Takes in how a call ended, which was made with this pass. */
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

  /** It has answered: nothing that went wrong before counts. */
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
 * What the end of a call says of an upstream. A busy one is not a broken one: 429, and 503, by which servers shed load or
 * say that they are loading, with or without a time to wait. 403 is also how a single request is refused: by moderation,
 * or for a model that this key may not use.
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
