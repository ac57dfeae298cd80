import type { UpstreamHealth } from '../contract/upstreams.ts';
import { Breaker, type FailureKind, type Pass } from './circuit-breaker.ts';
import { faultOf } from './fault.ts';
import type { ListClocks, Listing } from './listing.ts';
import { fixedModels, type UpstreamModel, wantedModels } from './model-list.ts';
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
export interface Sent {
  readonly config: UpstreamConfig;
  /** The empty text stands for none. */
  readonly key: string;
}

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
/** How long one that cannot count is not asked: it may be updated, or have been another program for a moment. */
const COUNTLESS_MS = 3_600_000;
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
  /** The key that it took last; the empty text stands for none. */
  #takenKey: string | null = null;
  /** Its last answer for a list was our own. */
  #metItself = false;
  /** With what it was asked when it said that it cannot count tokens, and how long that is believed. */
  #countless: { readonly sent: Sent; readonly until: number } | null = null;
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
    this.#takenKey = null;
    this.#metItself = false;
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
    return this.listing.due && this.breaker.waitMs === 0 && !this.isSelf;
  }

  /** Its address is certainly our own: there is nothing to ask. */
  get isSelf(): boolean {
    return this.#parts.isSelf(this.#config);
  }

  get loops(): boolean {
    return this.#metItself || this.isSelf;
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

  /** What is sent now. */
  get sent(): Sent {
    return { config: this.#config, key: this.key ?? '' };
  }

  #outdated({ config, key }: Sent): boolean {
    return config !== this.#config || key !== (this.key ?? '');
  }

  get #refused(): boolean {
    return this.#refusedKey !== null && this.#refusedKey === (this.key ?? '');
  }

  /** It has answered well to the key of now, so what it forbids is a matter of the single request. */
  get takesKey(): boolean {
    return this.#takenKey === (this.key ?? '');
  }

  /** It may count tokens: it has not said of late, with its file and key of now, that it cannot. */
  get counts(): boolean {
    const said = this.#countless;
    return said === null || this.#parts.clocks.steady() >= said.until || this.#outdated(said.sent);
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
      this.refused(this.sent);
      throw keyNotSet();
    }
    return header === null ? { authorization: `Bearer ${key}` } : { [header.toLowerCase()]: key };
  }

  /** It is this gateway itself, as its own answer showed; a way round may lead elsewhere later. */
  metItself(): void {
    this.#metItself = true;
    this.listing.failed();
  }

  /** The answer for a list was somebody else's. */
  metAnother(): void {
    this.#metItself = false;
  }

  /** A list came, or the question for one was answered; only a `good` answer tells that it takes our key. */
  answered(good: boolean, sent: Sent): void {
    if (good) this.#took(sent);
    this.#calm();
    this.breaker.reached();
  }

  /** A list did not come; `broken` when that says something about calls too. */
  unanswered(reason: string, broken?: unknown): void {
    this.listing.failed();
    this.#reason = reason;
    if (broken !== undefined) this.breaker.fail(faultOf(broken).kind, null);
  }

  /** It refused the key that was sent, or there was none to send. */
  refused(sent: Sent): void {
    if (this.#outdated(sent)) return;
    this.#refusedKey = sent.key;
    this.listing.failed();
  }

  /** Takes in the status of an answer that has just begun. */
  begun(status: number): void {
    if (status < 500) this.breaker.begun();
  }

  /** Takes in how a call ended, which was made with this pass. */
  ended(end: CallEnd, pass: Pass | null, sent: Sent): void {
    if (end !== null && 'lacks' in end)
      this.#countless = { sent, until: this.#parts.clocks.steady() + COUNTLESS_MS };
    const said = meaning(end);
    if (said.is !== 'ok' && said.is !== 'failed') this.breaker.nothing(pass);
    if (said.is === 'busy') this.#busyUntil = this.#parts.clocks.steady() + BUSY_MS;
    if (said.is === 'refused' || (said.is === 'forbidden' && !this.takesKey)) this.refused(sent);
    if (said.is === 'failed') {
      this.#reason = said.reason;
      this.breaker.fail(said.kind, pass);
    }
    if (said.is !== 'ok') return;
    if (!this.#outdated(sent)) this.#refusedKey = null;
    if (said.good) this.#took(sent);
    this.#calm();
    this.#busyUntil = Number.NEGATIVE_INFINITY;
    this.breaker.ok();
  }

  #took(sent: Sent): void {
    if (this.#outdated(sent)) return;
    this.#takenKey = sent.key;
    this.#refusedKey = null;
  }

  /** It has answered: nothing that went wrong before counts. */
  #calm(): void {
    this.#seen = true;
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
function meaning(end: CallEnd): Meaning {
  if (end === null || 'lacks' in end) return { is: 'nothing' };
  if ('failed' in end) {
    const { kind, words } = faultOf(end.failed);
    return { is: 'failed', kind, reason: words };
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
