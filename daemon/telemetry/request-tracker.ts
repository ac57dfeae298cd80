import { type CallerInfo, UNKNOWN_CALLER } from '../contract/caller-info.ts';
import type { ConversationState } from '../contract/conversation-state.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type {
  RequestBodiesView,
  RequestDetailView,
  RequestRecord,
  RequestTraceView,
} from '../contract/system.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import { type Indexed, SwapRemoveSet } from '../lib/perf/swap-remove-set.ts';
import { isoTime } from '../lib/text/iso-time.ts';
import { type Capture, Captures } from './captures.ts';
import type { Metrics } from './metrics.ts';
import { type FailureText, RequestTrace, type ResolutionInfo, type SentInfo } from './request-trace.ts';
import type { RequestContext } from './traces/request-spans.ts';
import { formatTraceparent } from './traces/trace-context.ts';
import type { Tracer } from './traces/tracer.ts';

/** Tokens and speed of one response, as far as the engine reported them. */
export interface Usage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly tokensPerSecond: number | null;
  /** Prompt tokens that the engine did not compute again; absent when it does not report them. */
  readonly cachedTokens?: number;
}

export interface RequestStart {
  readonly id: string;
  /** Route template, for example `/v1/chat/completions`. */
  readonly route: string;
  readonly tier: string;
  /** `performance.now()` at arrival. */
  readonly receivedAt: number;
  /** The caller's `traceparent` header. */
  readonly traceparent?: string | string[] | undefined;
  /** Who calls; default: unknown. */
  readonly caller?: CallerInfo | undefined;
  /** The captured bodies; null captures nothing. */
  readonly capture?: Capture | null;
  /**
   * The outcome of the call that this request is the first part of; null for the outcome of the part. Never
   * rejects.
   */
  readonly parentOutcome?: Promise<ParentOutcome | null> | undefined;
  cancel(): void;
}

export interface RequestRouting {
  readonly slot: string | null;
  readonly upstream: string | null;
  readonly step: string;
  readonly model: string | null;
}

export interface RequestEnd {
  /** Status that the caller received; 499 after a client disconnect. */
  readonly status: number;
  /** Code of the failure, null for success. */
  readonly error: string | null;
  /** The message of the failure; absent or null without one. */
  readonly failure?: FailureText | null | undefined;
  /** The response itself reported the failure. A failure that was thrown is counted where it is sent. */
  readonly reportedInBand?: boolean;
  readonly usage: Usage | null;
}

/** The outcome of a multi-round call. */
export type ParentOutcome = Omit<RequestEnd, 'usage'>;

/** One request while it runs. */
export interface TrackedRequest {
  /** The `traceparent` for an engine of the own network; null while tracing is off. */
  readonly traceparent: string | null;
  /** Records the model that the caller named; null when none. */
  requestedModel(model: string | null): void;
  resolved(resolved: ResolutionInfo): void;
  /** The current target does not serve the request because of this error code; another one follows. */
  failedOver(error: string): void;
  /** The target is ready, and the gateway's own work is done. */
  prepared(sent: SentInfo): void;
  /** A target was chosen. The wait starts with the first call. */
  routed(routing: RequestRouting): void;
  /** The lease was granted. */
  leased(): void;
  /** The request was sent to the engine. */
  sent(): void;
  /** What the engine did with the beginning of the conversation. */
  conversation(state: ConversationState): void;
  /** The first byte of the response body is sent. */
  firstByte(): void;
  /**
   * Ends the request. Later calls have no effect. The record of a first part stays open until the whole call
   * has ended.
   */
  end(result: RequestEnd): void;
}

/** Distributes the events of requests to the running list, the metrics and the request log. */
export interface RequestTracker {
  begin(start: RequestStart): TrackedRequest;
  running(): RequestRecord[];
  /** Returns a running request with its story so far; null when no request has this id. */
  find(id: string): RequestDetailView | null;
  /** Returns the captured bodies of a request, running or finished; null when they were not captured. */
  bodies(id: string): RequestBodiesView | null;
  /** Cancels a running request; false when no request has this id. */
  cancel(id: string): boolean;
}

export interface RequestTrackerDeps {
  /** The request log. Queues writes and never throws. */
  readonly requests: { add(record: RequestRecord, story: RequestTraceView): void };
  readonly bus: Pick<EventBus<GatewayEvents>, 'emit'>;
  readonly metrics: Pick<Metrics, 'finished'>;
  /** Removes secrets from texts of callers; default: removes nothing. */
  readonly redact?: (text: string) => string;
  /** Default: no traces. */
  readonly tracer?: Pick<Tracer, 'begin' | 'finished'> | undefined;
}

export function createRequestTracker(options: RequestTrackerDeps): RequestTracker {
  const running = new SwapRemoveSet<RunningRequest>();
  const captures = new Captures();
  const find = (id: string) => running.all().find(({ start }) => start.id === id);
  return {
    begin(start) {
      const track = new RunningRequest(start, options, running);
      running.add(track);
      if (start.capture) captures.add(start.id, start.capture);
      return track;
    },
    running: () => running.all().map((track) => track.record()),
    find: (id) => find(id)?.detail() ?? null,
    bodies: (id) => captures.find(id),
    cancel(id) {
      const track = find(id);
      track?.start.cancel();
      return track !== undefined;
    },
  };
}

const NOT_ROUTED = { slot: null, upstream: null, step: null, model: null };
const tenths = (ms: number): number => Math.round(ms * 10) / 10;

class RunningRequest implements TrackedRequest, Indexed {
  index = 0;
  readonly start: RequestStart;
  readonly #deps: RequestTrackerDeps;
  readonly #running: SwapRemoveSet<RunningRequest>;
  readonly #startedAt = Date.now();
  readonly #caller: CallerInfo;
  readonly #trace: RequestTrace;
  #routing: RequestRouting | typeof NOT_ROUTED = NOT_ROUTED;
  readonly #traceContext: RequestContext | null;
  #routedAt: number | null = null;
  #leasedAt: number | null = null;
  #sentAt: number | null = null;
  #firstByteAt: number | null = null;
  /** This part has ended. */
  #ended = false;
  #result: RequestEnd | null = null;
  #endedAt = 0;

  constructor(start: RequestStart, options: RequestTrackerDeps, running: SwapRemoveSet<RunningRequest>) {
    this.start = start;
    this.#deps = options;
    this.#running = running;
    this.#trace = new RequestTrace(options.redact);
    this.#caller = this.#trace.caller(start.caller ?? UNKNOWN_CALLER);
    this.#traceContext = options.tracer?.begin(start.traceparent) ?? null;
  }

  get traceparent(): string | null {
    const trace = this.#traceContext;
    return trace === null ? null : formatTraceparent({ ...trace.own, spanId: trace.callSpanId });
  }

  requestedModel(model: string | null): void {
    this.#trace.setRequestedModel(model);
  }

  resolved(resolved: ResolutionInfo): void {
    this.#trace.resolved = resolved;
  }

  failedOver(error: string): void {
    this.#trace.failedOver(error);
  }

  prepared(sent: SentInfo): void {
    this.#trace.sent = sent;
  }

  routed(routing: RequestRouting): void {
    const first = this.#routing === NOT_ROUTED;
    this.#routing = routing;
    this.#routedAt ??= performance.now();
    this.#trace.setTarget(routing);
    if (first) this.#emit('started', null);
  }

  leased(): void {
    this.#leasedAt = performance.now();
  }

  sent(): void {
    this.#sentAt = performance.now();
  }

  conversation(state: ConversationState): void {
    this.#trace.conversation = state;
  }

  firstByte(): void {
    this.#firstByteAt ??= performance.now();
  }

  end(result: RequestEnd): void {
    if (this.#ended) return;
    this.#ended = true;
    const { parentOutcome } = this.start;
    if (parentOutcome === undefined) this.#conclude(result);
    else void parentOutcome.then((end) => this.#conclude({ ...result, ...end }));
  }

  #conclude(result: RequestEnd): void {
    const { failure } = result;
    this.#result = {
      ...result,
      error: this.#trace.code(result.error),
      failure: failure == null ? null : this.#trace.failure(failure),
    };
    this.#endedAt = performance.now();
    this.#running.remove(this);
    this.#deps.requests.add(this.record(), this.#trace.story());
    this.#count(this.#result);
    this.#finishTrace(this.#result);
    this.#emit('ended', result.status);
  }

  #count({ status, error, reportedInBand, usage }: RequestEnd): void {
    const { receivedAt, route } = this.start;
    this.#deps.metrics.finished({
      route,
      slot: this.#routing.slot,
      upstream: this.#routing.upstream,
      status,
      inBandCode: reportedInBand ? error : null,
      durationS: (this.#endedAt - receivedAt) / 1000,
      firstByteS: this.#firstByteAt === null ? null : (this.#firstByteAt - receivedAt) / 1000,
      waitS: this.#waitS(),
      promptTokens: usage?.promptTokens ?? null,
      completionTokens: usage?.completionTokens ?? null,
      tokensPerSecond: usage?.tokensPerSecond ?? null,
    });
  }

  #waitS(): number | null {
    if (this.#leasedAt === null || this.#routedAt === null) return null;
    return (this.#leasedAt - this.#routedAt) / 1000;
  }

  #finishTrace({ status, error, usage }: RequestEnd): void {
    const trace = this.#traceContext;
    if (trace === null) return;
    const { id, route, tier, receivedAt } = this.start;
    const offset = Date.now() - performance.now();
    const unix = (at: number | null) => (at === null ? null : at + offset);
    this.#deps.tracer?.finished(
      {
        ...{ id, route, tier, status, error, ...this.#routing },
        promptTokens: usage?.promptTokens ?? null,
        completionTokens: usage?.completionTokens ?? null,
        receivedMs: receivedAt + offset,
        routedMs: unix(this.#routedAt),
        leasedMs: unix(this.#leasedAt),
        sentMs: unix(this.#sentAt),
        firstByteMs: unix(this.#firstByteAt),
        endedMs: this.#endedAt + offset,
      },
      trace,
    );
  }

  record(): RequestRecord {
    const { id, route, tier, receivedAt } = this.start;
    const { slot, upstream, step, model } = this.#routing;
    const result = this.#result;
    return {
      id,
      at: isoTime(this.#startedAt),
      route,
      asked: this.#trace.requestedModel,
      model,
      slot,
      upstream,
      step,
      tier,
      state: result ? 'done' : 'running',
      status: result?.status ?? null,
      duration_ms: result ? tenths(this.#endedAt - receivedAt) : null,
      ttft_ms: this.#firstByteAt === null ? null : tenths(this.#firstByteAt - receivedAt),
      prompt_tokens: result?.usage?.promptTokens ?? null,
      completion_tokens: result?.usage?.completionTokens ?? null,
      error: result?.error ?? null,
      message: result?.failure?.message ?? null,
      reason: result?.failure?.reason ?? null,
      app: this.#caller.app,
      user_agent: this.#caller.user_agent,
      address: this.#caller.address,
    };
  }

  detail(): RequestDetailView {
    return { ...this.record(), story: this.#trace.story() };
  }

  #emit(state: 'started' | 'ended', status: number | null): void {
    const { id, route } = this.start;
    this.#deps.bus.emit('request', { id, route, slot: this.#routing.slot, state, status });
  }
}
