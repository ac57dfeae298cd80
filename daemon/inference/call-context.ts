import type { Tier } from '../contract/auth.ts';
import type { CallerInfo } from '../contract/caller-info.ts';
import type { GatewayError } from '../contract/errors.ts';
import type { RouteId } from '../contract/routes.ts';
import type { Log } from '../lib/log.ts';
import type { OutboundBody } from '../lib/net/outbound.ts';
import type { SwapRemoveSet } from '../lib/perf/swap-remove-set.ts';
import type { Settings } from '../settings/settings.ts';
import type { Slots } from '../slots/slots.ts';
import type { ParentOutcome, RequestTracker, TrackedRequest } from '../telemetry/request-tracker.ts';
import type { CallEnd } from '../upstreams/call-meaning.ts';
import type { RankingSupport } from '../upstreams/provider-kinds.ts';
import type { Encoders } from './audio/encoders.ts';
import type { SpoolStore } from './audio/spool-store.ts';
import type { CallerRequest, CallerResponse } from './caller.ts';
import type { ConfiguredName } from './dispatch/configured-names.ts';
import type { ConversationPrefix, PrefixMemory } from './dispatch/conversation-prefix.ts';
import type { Decision } from './dispatch/dispatch.ts';
import type { ModelFallbacks } from './dispatch/model-fallbacks.ts';
import type { RoutingSources } from './dispatch/routing-view.ts';
import type { CallScope } from './forward/call-scope.ts';
import type { EffortFallback, EffortRequest, EffortSupport } from './forward/effort-support.ts';
import type { EngineFailure, Verdict } from './forward/engine-error.ts';
import type { EngineConnections } from './forward/engines.ts';
import type { Sink } from './forward/exchange-options.ts';
import type { ImageSupport } from './forward/image-support.ts';
import type { OptionSupport, RefusableOption } from './forward/option-support.ts';
import type { ResponseWriter } from './forward/response-writer.ts';
import type { WaitTimes } from './forward/wait-times.ts';
import type { AvailableModels } from './images/available-models.ts';
import type { Images } from './images/images.ts';
import type { OverheadTimer } from './overhead-timer.ts';
import type { RegistryLike, Upstreams } from './ports.ts';
import type { BodyIndex } from './rewrite/body-index.ts';
import type { BodyContext, MediaSupport } from './rewrite/body-rule.ts';
import type { ChatHistory } from './rewrite/chat-history.ts';

/** Delivers the body as it is received. `take` applies backpressure by a promise. */
export type ReceiveBody = (
  take: (chunk: Buffer) => Promise<void> | undefined,
  signal: AbortSignal,
) => Promise<void>;

/** The parent of a multi-round call; both share one request id. */
export interface ParentCall {
  /** Called when an admin cancels the request. */
  cancel(reason: GatewayError): void;
  /** The outcome; null for the outcome of the first part. Never rejects. */
  readonly outcome: Promise<ParentOutcome | null>;
}

/** One call of an inference route, as the pipeline passes it. */
export interface InferenceCall {
  /** `x-request-id`. */
  readonly id: string;
  readonly route: RouteId;
  /** The request path, for example `/v1/chat/completions`. */
  readonly path: string;
  readonly tier: Tier;
  readonly req: CallerRequest;
  /** Who calls, as far as is known. */
  readonly caller?: CallerInfo | undefined;
  readonly res: CallerResponse;
  /** The whole body, capped by the pipeline; empty when `receive` delivers it. */
  readonly body: Buffer;
  /** The index of `body`, set by its first reader so that a long body is scanned once. */
  bodyIndex?: BodyIndex | undefined;
  /** The body was translated from a request of another API. */
  readonly translated?: boolean;
  /** Identifies the caller to the memory of responses: see `dialects/responses/response-memory.ts`. */
  readonly callerKey?: string;
  /** Earlier turns, when `body` was translated from a request of another API. */
  readonly history?: ChatHistory;
  /** Whether the call waits for a load like a stream; by default as its body says. */
  readonly waitsAsStream?: boolean;
  /** Set for the first of several calls under this id: the request log shows them as one. */
  readonly parent?: ParentCall;
  /** Delivers bodies that are too large for memory. */
  readonly receive?: ReceiveBody;
  /** `performance.now()` at arrival. */
  readonly receivedAt: number;
  /** Start of the overhead: the arrival, without the wait for the body. Default: arrival. */
  readonly overheadSince?: number;
}

export interface CallDeps {
  readonly settings: Pick<Settings, 'value'>;
  readonly slots: Pick<
    Slots,
    'views' | 'get' | 'config' | 'leaseNow' | 'ensureReady' | 'recordUsage' | 'diagnose'
  >;
  readonly registry: RegistryLike;
  readonly upstreams: Upstreams;
  readonly tracker: RequestTracker;
  readonly log: Log;
  readonly outbound: EngineConnections;
  readonly sources: RoutingSources;
  readonly spools: SpoolStore;
  readonly encoders: Encoders;
  readonly images: Images;
  readonly availableModels: AvailableModels;
  readonly effortSupport: EffortSupport;
  readonly imageSupport: ImageSupport;
  readonly prefixes: PrefixMemory;
  readonly optionSupport: OptionSupport;
  /** Scopes of the calls that are running. */
  readonly activeScopes: SwapRemoveSet<CallScope>;
}

/** The context of one running call: everything that its steps share. */
export interface CallContext {
  readonly deps: CallDeps;
  readonly call: InferenceCall;
  readonly task: TaskRow;
  readonly scope: CallScope;
  readonly response: ResponseWriter;
  readonly tracked: TrackedRequest;
  /** Measures `x-svc-overhead-ms`; paused once the request has been sent. */
  readonly overhead: OverheadTimer;
}

/** The result of parsing a request before dispatch. */
export interface ParsedRequest {
  /** The `model` of the caller, or the name to dispatch instead; null when omitted. */
  readonly model: string | null;
  /** The name as the caller wrote it, when `model` differs. */
  readonly requestedName?: string;
  /** The alias or preset that `model` was made from; absent when dispatch resolves it. */
  readonly alias?: ConfiguredName | null;
  readonly stream: boolean;
  /** The caller requested the token counts of a stream. */
  readonly includesUsage?: boolean;
  /** The requested number of choices of a chat or completion; absent for any other request. */
  readonly choices?: number;
  /** The caller opted into the tool loop. */
  readonly omni: boolean;
  /** The effort of a chat that was translated from another API; null or undefined when it requests none. */
  readonly effort?: Pick<EffortRequest, 'effort' | 'tools'> | null;
  /** The models that may serve it instead; absent when none may. */
  readonly fallbacks?: ModelFallbacks;
  /** `model` is a fallback for the requested one. */
  readonly isFallback?: boolean;
  /** The fallback to use because the requested effort was refused. */
  readonly effortFallback?: EffortFallback;
  /** Returns the body for the engine, given the target and the model id that it accepts. */
  body(
    target: Pick<
      BodyContext,
      | 'local'
      | 'origin'
      | 'upstream'
      | 'slot'
      | 'effortFallback'
      | 'thinkingDefault'
      | 'media'
      | 'takesLaterSystem'
      | 'continuesOnRequest'
      | 'streamUsage'
    >,
    model: string | null,
  ): OutboundBody;
  /** Returns the names of what the last `body` replaced or left out. */
  ignored?(): readonly string[];
  /** Returns the beginning of a chat for this model; absent for other requests. */
  prefix?(model: string): ConversationPrefix | null;
  /** Releases the buffers after the call. */
  dispose?(): void;
}

/** What parsing a body may need in addition to the call. */
export interface ParseContext {
  readonly scope: CallScope;
  readonly deps: Pick<CallDeps, 'spools' | 'sources' | 'availableModels'>;
}

export type CheckModel = (model: string) => Promise<void>;

/** The target of a request, ready for use. */
export interface Connection extends RankingSupport {
  readonly origin: string;
  /** The path prefix at the target that replaces our `/v1`. */
  readonly base: string;
  /** The credential of the engine. */
  readonly headers: Readonly<Record<string, string>>;
  /** The id of the model as clients know it. */
  readonly model: string | null;
  /**
   * The name of the model at the engine. Null for an engine that ignores the name; the caller's value then
   * stays.
   */
  readonly engineModel: string | null;
  /** False for a third-party provider. */
  readonly local: boolean;
  /** The thinking setting when the caller sets none. */
  thinkingDefault(): boolean | null;
  /** Returns what the target reads besides text. */
  media(): MediaSupport;
  /** The target takes system messages at any position of a chat. */
  readonly takesLaterSystem: boolean;
  /** It continues an answer that the caller began only when that is requested. */
  readonly continuesOnRequest: boolean;
  readonly degraded: string | null;
  /** How to send the reasoning effort; undefined sends it as requested. */
  readonly effortFallback?: EffortFallback;
  /** The wait times of the request; null for an upstream, which has no queue here. */
  readonly waitTimes: WaitTimes | null;
  /** The path that counts tokens; undefined for the default path. */
  readonly countPath: string | undefined;
  readonly isUpstream: boolean;
  /** Returns whether the target is a worker program of the gateway. */
  isWorker(): boolean;
  /** The name of the upstream; null for a slot. */
  readonly upstream: string | null;
  /** The name of the slot; null for an upstream. */
  readonly slot: string | null;
  /** It counts the tokens of a stream only when that is requested. */
  readonly streamUsage: boolean;
  /** It receives the name of the calling app. */
  readonly sendsAppName: boolean;
  /** Time limits of the target in milliseconds; null uses the settings. */
  readonly connectMs: number | null;
  readonly idleMs: number | null;
  /** Reports the speed of the last response to the slot. */
  reportSpeed(tokensPerSecond: number): void;
  /** Reports the status of a response that has started to the upstream. */
  readonly onBegin: (status: number) => void;
  /** Reports to the upstream that bytes of the response arrived. */
  readonly onData: () => void;
  /** Sets the listener for the end of the call because the upstream is down. Never called for a slot. */
  readonly onDown: (listener: (reason: GatewayError) => void) => void;
  /** Reports how the call ended to the upstream. Only the first call has an effect. */
  onEnd(end: CallEnd): void;
  /** Ends the use of the target, whatever the outcome. */
  release(): void;
  /** Ends the use of a slot once `idle` has settled, because its engine cannot stop. `release` then does nothing. */
  releaseAfter(idle: Promise<unknown>): void;
}

/** What was decided for a call once its target was known, before the target is loaded. */
export interface PreparedRequest {
  /** Returns the body for the engine, given the connection and the model id that it accepts. */
  body(target: Connection, model: string | null): OutboundBody;
  /** Returns an option of the body that the target may refuse, and without which the request is sent again. */
  refusable?(target: Connection, model: string | null): RefusableOption | undefined;
  /** Returns the sink for the engine's response; null to relay it unchanged. */
  sink(target: Connection): PreparedSink | null;
}

export interface PreparedSink extends Sink {
  /** Resolves when the caller has the whole response; rejects with the failure. */
  readonly settled: Promise<void>;
  dispose(): void;
}

/** What is particular to one kind of route. All other steps are the same for every route. */
export interface TaskRow {
  /** `check` throws when nothing serves a model, for a body that names it before its end. */
  read(call: InferenceCall, ctx: ParseContext, check?: CheckModel): ParsedRequest | Promise<ParsedRequest>;
  /** The body is sent unchanged, even if it is not JSON. */
  readonly verbatim?: boolean;
  /** Its event streams have an end marker: `[DONE]` or a finish reason. */
  readonly hasEndMarker?: boolean;
  /** It counts tokens, which not every upstream supports. */
  readonly counts?: boolean;
  judge?(failure: EngineFailure, target: Pick<Connection, 'isWorker'>): Verdict;
  /** Converts a complete response to the events of a stream that has started; null when it cannot. */
  asEvents?(bytes: Buffer): string | null;
  /** Returns the error for a complete response without any sound. */
  soundless?(reading: ParsedRequest): GatewayError;
  /** Returns the path at this engine when it differs from the path of the route. */
  path?(target: Pick<Connection, 'base' | 'countPath' | 'rerankApi' | 'hasScore'>): string | undefined;
  /** Checks the target before it is loaded. Throws a GatewayError for what the target cannot do. */
  readonly prepare?: (
    ctx: CallContext,
    reading: ParsedRequest,
    decision: Decision,
  ) => Promise<PreparedRequest>;
  /** Makes the response itself instead of relaying the engine's. Throws before the head is sent. */
  readonly serve?: (
    ctx: CallContext,
    reading: ParsedRequest,
    connection: Connection,
    decision: Decision,
  ) => Promise<void>;
}
