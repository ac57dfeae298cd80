import type { UpstreamHealth } from '../contract/upstreams.ts';
import { Breaker, type FailureKind } from './breaker.ts';
import { faultOf } from './fault.ts';
import type { ListClocks, Listing } from './listing.ts';
import { fixedModels, type UpstreamModel, wantedModels } from './model-list.ts';
import { keyNotSet } from './refusals.ts';
import type { UpstreamConfig } from './upstream-file.ts';

/** How one call ended: the status of the upstream's answer, the error of the connection, or null when it says nothing. */
export type CallEnd = { readonly status: number } | { readonly failed: unknown } | null;

export interface UpstreamParts {
  readonly clocks: ListClocks;
  /** A variable of the environment, now. */
  environment(name: string): string | undefined;
  /** Whether this address is certainly our own. */
  isSelf(config: UpstreamConfig): boolean;
}

const KEY = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
/** How long one that was busy stands behind others with the same model. */
const BUSY_MS = 5_000;
const REFUSED = 'It refused the key of this gateway.';

/** One upstream while the gateway runs: its settings, its list, and what its answers have shown. */
export class Upstream {
  readonly breaker: Breaker;
  readonly listing: Listing;
  readonly #parts: UpstreamParts;
  #config: UpstreamConfig;
  #models: { from: readonly UpstreamModel[]; wanted: readonly UpstreamModel[] } | null = null;
  /** It has answered in this run. */
  #seen = false;
  /** The key that it refused last; the empty text stands for none. */
  #refusedKey: string | null = null;
  #metItself = false;
  #busyUntil = Number.NEGATIVE_INFINITY;
  #reason: string | null = null;

  constructor(config: UpstreamConfig, listing: Listing, parts: UpstreamParts) {
    this.#config = config;
    this.#parts = parts;
    this.listing = listing;
    this.breaker = new Breaker(parts.clocks.steady);
  }

  get config(): UpstreamConfig {
    return this.#config;
  }

  /** Takes new settings for the same address. */
  configure(config: UpstreamConfig): void {
    this.#config = config;
    this.#models = null;
    this.#refusedKey = null;
    this.listing.retry();
  }

  /** What it serves, as far as its file lets in. */
  get models(): readonly UpstreamModel[] {
    const from = this.listing.models;
    if (this.#models?.from !== from) this.#models = { from, wanted: this.#wanted(from) };
    return this.#models.wanted;
  }

  #wanted(models: readonly UpstreamModel[]): readonly UpstreamModel[] {
    const fixed = this.#config.models;
    return wantedModels(fixed === null ? models : fixedModels(fixed), this.#config);
  }

  /** Its list is missing or too old, and may be asked for now. */
  cold(maxAgeMs: number): boolean {
    if (this.#config.models !== null || this.listing.fresh(maxAgeMs)) return false;
    return this.listing.due && this.breaker.waitMs === 0 && !this.loops;
  }

  get loops(): boolean {
    return this.#metItself || this.#parts.isSelf(this.#config);
  }

  get health(): UpstreamHealth {
    if (!this.#config.enabled) return 'disabled';
    if (this.loops) return 'loop';
    if (this.#refused) return 'auth_failed';
    if (this.breaker.open) return 'down';
    if (!this.breaker.well) return 'failing';
    if (this.#parts.clocks.steady() < this.#busyUntil) return 'busy';
    return this.#seen ? 'ok' : 'unknown';
  }

  /** Why it is not well, in one sentence; null when it is. */
  get reason(): string | null {
    const { health } = this;
    if (health === 'loop') return 'Its address leads back to this gateway.';
    if (health === 'busy') return 'It has more to do than it takes, or is loading.';
    if (health === 'auth_failed') return this.key === null ? 'Its key is not set.' : REFUSED;
    return health === 'failing' || health === 'down' || health === 'unknown' ? this.#reason : null;
  }

  /** Whether a variable was named and holds a usable key; null without one. */
  get key(): string | null {
    const { keyEnv } = this.#config;
    const value = keyEnv === null ? undefined : this.#parts.environment(keyEnv)?.trim();
    return value !== undefined && KEY.test(value) ? value : null;
  }

  get #refused(): boolean {
    return this.#refusedKey !== null && this.#refusedKey === (this.key ?? '');
  }

  /** A key that was refused counts no longer once it is another one. */
  lookAtKey(): void {
    if (this.#refusedKey === null || this.#refused) return;
    this.#refusedKey = null;
    this.listing.retry();
  }

  /** A key is asked for and there is none. */
  get keyMissing(): boolean {
    return this.#config.keyEnv !== null && this.key === null;
  }

  /** The header with its key. Throws `upstream.auth_failed` when a key is asked for and there is none. */
  credential(): Record<string, string> {
    const { keyEnv, header } = this.#config;
    if (keyEnv === null) return {};
    const { key } = this;
    if (key === null) {
      this.refused();
      throw keyNotSet();
    }
    return header === null ? { authorization: `Bearer ${key}` } : { [header.toLowerCase()]: key };
  }

  /** It is this gateway itself, as its own answer showed. */
  metItself(): void {
    this.#metItself = true;
  }

  /** A list came, or another small question was answered well. */
  answered(): void {
    this.#seen = true;
    this.#refusedKey = null;
    this.#reason = null;
    this.breaker.reached();
  }

  /** A list did not come; `broken` when that says something about calls too. */
  unanswered(reason: string, broken?: unknown): void {
    this.listing.failed();
    this.#reason = reason;
    if (broken !== undefined) this.breaker.fail(faultOf(broken).kind);
  }

  /** It refused our key, or there is none to send. */
  refused(): void {
    this.#refusedKey = this.key ?? '';
    this.listing.failed();
  }

  /** Takes in how a call ended. */
  ended(end: CallEnd): void {
    const said = meaning(end);
    if (said.is !== 'ok' && said.is !== 'failed') this.breaker.nothing();
    if (said.is === 'busy') this.#busyUntil = this.#parts.clocks.steady() + BUSY_MS;
    if (said.is === 'refused') this.refused();
    if (said.is === 'failed') {
      this.#reason = said.reason;
      this.breaker.fail(said.kind);
    }
    if (said.is !== 'ok') return;
    this.#seen = true;
    this.#refusedKey = null;
    this.#reason = null;
    this.#busyUntil = Number.NEGATIVE_INFINITY;
    this.breaker.ok();
  }
}

type Meaning =
  | { readonly is: 'ok' | 'nothing' | 'busy' | 'refused' }
  | { readonly is: 'failed'; readonly kind: FailureKind; readonly reason: string };

/**
 * What the end of a call says of an upstream. A busy one is not a broken one: 429, and 503, by which servers shed load or
 * say that they are loading, with or without a time to wait.
 */
function meaning(end: CallEnd): Meaning {
  if (end === null) return { is: 'nothing' };
  if ('failed' in end) {
    const { kind, words } = faultOf(end.failed);
    return { is: 'failed', kind, reason: words };
  }
  const { status } = end;
  if (status === 401 || status === 403) return { is: 'refused' };
  if (status === 429 || status === 503) return { is: 'busy' };
  const bad = status >= 500 || (status >= 300 && status < 400);
  return bad ? { is: 'failed', kind: 'failing', reason: `It answered with status ${status}.` } : { is: 'ok' };
}
