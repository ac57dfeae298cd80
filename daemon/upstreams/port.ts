import type { GatewayError } from '../contract/errors.ts';
import type { UpstreamRecord } from '../contract/upstreams.ts';
import type { Problem } from '../settings/problem.ts';
import type { DownListener } from './active-calls.ts';
import type { CallEnd } from './call-meaning.ts';
import type { UpstreamModel } from './model-list.ts';
import type { RankingSupport } from './provider-kinds.ts';
import type { ExplainQuery, RemoteExplanation } from './query-explain.ts';
import type { ListOutcome } from './read-list.ts';
import type { UpstreamConfig } from './upstream-file.ts';

/** What dispatch and catalogue know of one upstream, from memory. */
export interface UpstreamState {
  readonly name: string;
  /** Whether it is a provider. Thinking switches are never sent to it. */
  readonly remote: boolean;
  /** Whether it is reachable and may take a call for a model that is not failing. */
  readonly isHealthy: boolean;
  /** Whether it answered 429 or 503 a moment ago. Ranked after other healthy upstreams with the same model. */
  readonly isBusy: boolean;
  /** Models whose last call failed. Ranked after other upstreams with the same model. */
  readonly failingModels: ReadonlySet<string>;
  /** Whether it is used only after every upstream of the own network. */
  readonly isSpendGuarded: boolean;
  /** Whether it has `/v1/score`, as far as its kind says. */
  readonly hasScore: boolean;
  /** Lower values are preferred. */
  readonly priority: number;
  /** Its share of the requests among upstreams of the same rank. */
  readonly weight: number;
  /** Number of calls in progress. */
  readonly active: number;
  /** Rises with each call; the smallest one is next among equally busy upstreams. */
  readonly turn: number;
  /** Whether what its list says about load is recent. */
  readonly isListRecent: boolean;
  /** Whether its model list is missing or outdated, and may be requested now. */
  readonly isCold: boolean;
  readonly models: readonly UpstreamModel[];
}

/** How one call reaches an upstream. The headers hold its own credential and go to its own origin only. */
export interface UpstreamCall extends RankingSupport {
  readonly origin: string;
  /** The path that replaces the gateway's own `/v1`. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Its path for token counts; undefined: that of llama-server. */
  readonly countPath: string | undefined;
  /** It counts the tokens of a stream only when `stream_options` requests it, which it supports. */
  readonly streamUsage: boolean;
  /** It receives the name of the calling app. */
  readonly sendsAppName: boolean;
  /** It continues an answer that the caller began only when that is requested. */
  readonly continuesOnRequest: boolean;
  readonly remote: boolean;
  /** Milliseconds; null uses the settings. */
  readonly connectMs: number | null;
  readonly idleMs: number | null;
  /** Call this with the status as soon as a response begins. */
  onResponse(status: number): void;
  /** Call this when bytes of the response arrive. */
  onData(): void;
  /**
   * Sets the listener for the end of the call because the upstream is down. It closes the connection first; the
   * call may go to another upstream if no byte of an answer came.
   */
  onDown(listener: DownListener): void;
  /** Call this once when the call has ended. */
  onEnd(end: CallEnd): void;
}

export interface CallOptions {
  /** The header that lists the gateways a request has passed through. */
  readonly hops?: string | undefined;
  /** A test by an administrator: also while disabled or down. */
  readonly isTest?: boolean;
  /** It is to count tokens. */
  readonly isTokenCount?: boolean;
  /** The id of the model. Without one, failures count against unnamed calls. */
  readonly model?: string;
  /** The model is bound to this upstream, so that no other one may serve the call. */
  readonly isBound?: boolean;
}

/** The part of the options that decides which breaker and which alternatives matter. */
export type CallTarget = Pick<CallOptions, 'model' | 'isBound'>;

/**
 * The upstreams of this gateway (docs/spec/specification.md#dispatch-steps, docs/spec/contract.md#dispatch).
 * Reading their state sends no request.
 */
export interface AllUpstreams {
  /** The instance name of this process among gateways. */
  readonly instance: string;
  /** Those that are enabled. */
  list(): readonly UpstreamState[];
  /**
   * Reads the model lists of all cold upstreams, shared between callers and within 8 s in total. Never
   * rejects because of a failing upstream.
   */
  refreshCold(signal: AbortSignal): Promise<void>;
  /**
   * Returns the permission for one call. Throws GatewayError: `upstream.loop`, `upstream.auth_failed` (no
   * key), `upstream.daily_cap`, `dispatch.upstream_unavailable` (paused or removed),
   * `dispatch.capability_mismatch` (it cannot count).
   */
  connect(name: string, options?: CallOptions): UpstreamCall;
  /**
   * Returns what `connect` would throw now for a request for this target that has passed no other gateway, or
   * null. Changes nothing.
   */
  refusal(name: string, target?: CallTarget): GatewayError | null;
  views(): UpstreamRecord[];
  /** The view for administrators; undefined for an unknown name. */
  detail(name: string): UpstreamRecord | undefined;
  /** The settings of one upstream; undefined for an unknown name. */
  config(name: string): UpstreamConfig | undefined;
  problems(): readonly Problem[];
  /** Requests the list of one upstream now; throws `upstream.not_found`. */
  readList(name: string, signal: AbortSignal): Promise<ListOutcome>;
  /** Queries the svc-gateway behind an upstream how it would route a request; null for every other kind. */
  explain(name: string, query: ExplainQuery, signal: AbortSignal): Promise<RemoteExplanation | null>;
  /** Reads the files again and checks for changed keys. A broken file keeps its last good settings. */
  reload(): void;
  /** Starts reading lists; call this when the gateway listens. */
  start(): void;
  close(): void;
}
