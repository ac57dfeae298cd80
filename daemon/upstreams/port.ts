import type { GatewayError } from '../contract/errors.ts';
import type { UpstreamRecord } from '../contract/upstreams.ts';
import type { Problem } from '../settings/problem.ts';
import type { UpstreamModel } from './model-list.ts';
import type { ListOutcome } from './read-list.ts';
import type { CallEnd } from './upstream.ts';
import type { UpstreamConfig } from './upstream-file.ts';

/** What dispatch and catalogue know of one upstream, from memory. */
export interface UpstreamState {
  readonly name: string;
  /** A provider of somebody else: thinking switches never go there. */
  readonly remote: boolean;
  /** Its last call went well, and it may take another one. */
  readonly isHealthy: boolean;
  /** It stands behind every upstream of the own network. */
  readonly isSpendGuarded: boolean;
  /** Smaller comes first. */
  readonly priority: number;
  /** Its model list has never been read, or is too old to count, and may be asked for now. */
  readonly isCold: boolean;
  readonly models: readonly UpstreamModel[];
}

/** How one call reaches an upstream. The headers hold its own credential and go to its own origin only. */
export interface UpstreamCall {
  readonly origin: string;
  /** What stands in place of our own `/v1`. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  /** It reranks under the native path only. */
  readonly nativeRerank: boolean;
  /** It reranks as TEI does: at a path and in words of its own. */
  readonly teiRerank: boolean;
  readonly remote: boolean;
  /** Milliseconds; null leaves it to the settings. */
  readonly connectMs: number | null;
  readonly idleMs: number | null;
  /** To be told the status of an answer as soon as it begins. */
  onResponse(status: number): void;
  /** To be told once how the call ended. */
  onEnd(end: CallEnd): void;
}

export interface CallOptions {
  /** The header by which gateways name whom a request has passed. */
  readonly hops?: string | undefined;
  /** A test by an administrator: also while disabled or down. */
  readonly isTest?: boolean;
  /** It is to count tokens. */
  readonly isTokenCount?: boolean;
}

/**
 * The upstreams of this gateway (docs/spec/specification.md#dispatch-steps, docs/spec/contract.md#dispatch).
 * Reading their state sends no request.
 */
export interface AllUpstreams {
  /** The name of this run of the gateway among gateways. */
  readonly instance: string;
  /** Those that are enabled. */
  list(): readonly UpstreamState[];
  /** Reads the model lists of all cold upstreams, single-flighted and within 8 s in all; never rejects for a failing leg. */
  refreshCold(signal: AbortSignal): Promise<void>;
  /**
   * The right to make one call. Throws GatewayError: `upstream.loop`, `upstream.auth_failed` (no key),
   * `upstream.daily_cap`, `dispatch.upstream_unavailable` (left alone for a while, or gone), `dispatch.capability_mismatch`
   * (it cannot count).
   */
  connect(name: string, options?: CallOptions): UpstreamCall;
  /** What `connect` would throw now for a request that has passed no other gateway; null when it may be made. Changes nothing. */
  refusal(name: string): GatewayError | null;
  views(): UpstreamRecord[];
  /** The view for administrators; undefined when there is none of this name. */
  detail(name: string): UpstreamRecord | undefined;
  /** The settings of one; undefined when there is none of this name. */
  config(name: string): UpstreamConfig | undefined;
  problems(): readonly Problem[];
  /** Asks one for its list now, whatever is known; throws `upstream.not_found`. */
  readList(name: string, signal: AbortSignal): Promise<ListOutcome>;
  /** Reads the files anew, and looks whether keys have changed; a broken file keeps its last good settings. */
  reload(): void;
  /** The gateway listens: lists are asked for from now on. */
  start(): void;
  close(): void;
}
