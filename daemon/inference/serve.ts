import type { ServerResponse } from 'node:http';
import type { AudioModelList, VoiceList } from '../contract/audio.ts';
import type { Tier } from '../contract/auth.ts';
import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { V1ModelRecord } from '../contract/models.ts';
import type { RouteId } from '../contract/routes.ts';
import type { ExplainView, RequestBodiesView, RequestDetailView, RequestRecord } from '../contract/system.ts';
import type { UpstreamTestStepView } from '../contract/upstreams.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import { SwapRemoveSet } from '../lib/perf/swap-remove-set.ts';
import { createRedactor } from '../lib/text/redact.ts';
import type { Settings } from '../settings/settings.ts';
import type { Slots } from '../slots/slots.ts';
import type { Store } from '../store/store.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createRequestTracker, type ParentOutcome } from '../telemetry/request-tracker.ts';
import type { Tracer } from '../telemetry/traces/tracer.ts';
import { Encoders } from './audio/encoders.ts';
import { SpoolStore } from './audio/spool-store.ts';
import { listSpeakers, listVoices } from './audio/voices.ts';
import { type CallDeps, recordRefusal, runCall } from './call.ts';
import type { CallerRequest, CallerResponse } from './caller.ts';
import { type CatalogueQuery, type DrawableModels, findModel, listModels } from './catalogue.ts';
import { type DialectName, serveDialect } from './dialects/serve-dialect.ts';
import { type ExplainInput, explain } from './dispatch/explain.ts';
import { createRoutingView } from './dispatch/routing-view.ts';
import type { CallScope } from './forward/call-scope.ts';
import { EffortSupport } from './forward/effort-support.ts';
import { openEngineConnections } from './forward/engines.ts';
import { AvailableModels } from './images/available-models.ts';
import type { CachedImage } from './images/cache.ts';
import { Images } from './images/images.ts';
import { callInternally, type Internal } from './internal.ts';
import { NO_UPSTREAMS, type RegistryLike, type Upstreams } from './ports.ts';
import type { BodyIndex } from './rewrite/body-index.ts';
import type { ChatHistory } from './rewrite/restore-reasoning.ts';
import { TASKS, type TaskName } from './tasks.ts';
import { tryUpstream } from './try-upstream.ts';

/** Hands the body over as it comes; `take` asks to wait by a promise. */
export type ReceiveBody = (
  take: (chunk: Buffer) => Promise<void> | undefined,
  signal: AbortSignal,
) => Promise<void>;

/** What a call is the first part of: whoever asked knows both by one id. */
export interface ParentCall {
  /** An admin cancels it. */
  cancel(reason: GatewayError): void;
  /** How it ended; null: as its first part did. Never rejects. */
  readonly outcome: Promise<ParentOutcome | null>;
}

/** One call of an inference route, as the pipeline hands it over. */
export interface InferenceCall {
  /** `x-request-id`. */
  readonly id: string;
  readonly route: RouteId;
  /** `/v1/chat/completions` and so on. */
  readonly path: string;
  readonly tier: Tier;
  readonly req: CallerRequest;
  readonly res: CallerResponse;
  /** The whole body, capped by the pipeline; empty where `receive` gives it. */
  readonly body: Buffer;
  /** Where the parts of `body` lie, noted by who looks first: a long body is walked once. */
  bodyIndex?: BodyIndex | undefined;
  /** It was made from a request of another API. */
  readonly translated?: boolean;
  /** What was said before, where `body` was made from a request of another API. */
  readonly history?: ChatHistory;
  /** Whether it waits for a load as streams do; as its body asks when left out. */
  readonly waitsAsStream?: boolean;
  /** It is the first of several under this id: the request log shows them as one. */
  readonly parent?: ParentCall;
  /** For bodies that are too large for memory. */
  readonly receive?: ReceiveBody;
  /** `performance.now()` at arrival. */
  readonly receivedAt: number;
  /** From when on the time until now was the gateway's own: arrival, without the wait for the sender of the body. Default: arrival. */
  readonly overheadSince?: number;
}

export interface InferenceDeps {
  /** Where recordings lie while they are received. */
  readonly spoolFolder: string;
  /** Where pictures are kept for their callers. */
  readonly imageFolder: string;
  /** Makes sound formats; default with the ffmpeg of this machine. */
  readonly encoders?: Encoders;
  readonly settings: Pick<Settings, 'value'>;
  /** Texts that no record may hold; default: none. */
  secrets?(): readonly string[];
  readonly slots: Pick<
    Slots,
    'views' | 'get' | 'config' | 'leaseNow' | 'ensureReady' | 'recordUsage' | 'preview'
  >;
  readonly registry: RegistryLike;
  readonly upstreams?: Upstreams;
  readonly store: { readonly requests: Pick<Store['requests'], 'add'> };
  readonly bus: Pick<EventBus<GatewayEvents>, 'emit' | 'subscribe'>;
  readonly metrics: Pick<Metrics, 'finished'>;
  /** Default: no traces. */
  readonly tracer?: Pick<Tracer, 'begin' | 'finished'>;
  readonly log: Log;
}

const NO_SECRETS: readonly string[] = [];

type Task = (call: InferenceCall) => Promise<void>;

/**
 * Serves the routes of docs/spec/specification.md#v1-routes after the guards: each task answers `call.res`
 * itself or throws before its head.
 */
export interface Inference extends Readonly<Record<TaskName | DialectName, Task>> {
  models(query: CatalogueQuery): { object: 'list'; data: V1ModelRecord[] };
  model(id: string): V1ModelRecord | undefined;
  /** `asked` names a model or slot; null takes all. */
  voices(asked: string | null): VoiceList;
  speakers(): AudioModelList;
  /** A kept picture; null for any other text than the id of one. */
  image(id: string): Promise<CachedImage | null>;
  explain(input: ExplainInput): ExplainView;
  /** Tries an upstream as real calls do: its model list, then a chat of a few tokens when a model is named. */
  tryUpstream(
    name: string,
    model: string | null,
    requestId: string,
    res: ServerResponse,
  ): Promise<UpstreamTestStepView[]>;
  readonly drawableModels: DrawableModels;
  /** Notes a call that was refused before it was known what to run for it; the failure is still to be thrown. */
  recordRefusal(call: InferenceCall, failure: unknown): void;
  /** An inference route called from inside the gateway. */
  readonly internal: Internal;
  /** Requests that run now. */
  running(): RequestRecord[];
  /** A running request with its story so far; null when none of this id runs. */
  request(id: string): RequestDetailView | null;
  /** The texts of a request, running or over; null when they are not kept. */
  bodies(id: string): RequestBodiesView | null;
  /** Ends a running request; false when there is none of this id. */
  cancel(id: string): boolean;
  /** Refuses new calls, ends the running ones with `slot.draining` and closes every connection. */
  stop(): Promise<void>;
}

export function createInference(deps: InferenceDeps): Inference {
  const { settings, slots, registry, store, bus, metrics, log } = deps;
  const upstreams = deps.upstreams ?? NO_UPSTREAMS;
  const sources = { slots, registry, upstreams, npuSuffix: () => settings.value('npuSuffix') };
  const redact = createRedactor(() => deps.secrets?.() ?? NO_SECRETS);
  const tracker = createRequestTracker({
    requests: store.requests,
    bus,
    metrics,
    tracer: deps.tracer,
    redact,
  });
  const outbound = openEngineConnections(() => settings.value('connectTimeoutS') * 1000);
  const activeScopes = new SwapRemoveSet<CallScope>();
  const spools = new SpoolStore(deps.spoolFolder);
  const images = new Images({ folder: deps.imageFolder, outbound, bus, log });
  const availableModels = new AvailableModels({ slots, outbound, bus });
  const drawableModels = (slot: string) => availableModels.of(slot);
  const run: CallDeps = {
    spools,
    images,
    effortSupport: new EffortSupport(),
    encoders: deps.encoders ?? new Encoders(),
    settings,
    slots,
    registry,
    upstreams,
    tracker,
    log,
    outbound,
    sources,
    activeScopes,
  };
  let stopped = false;
  const task =
    (name: TaskName): Task =>
    (call) =>
      stopped ? Promise.reject(draining()) : runCall(run, call, TASKS[name]);
  const tasks: Readonly<Record<TaskName, Task>> = {
    chat: task('chat'),
    count: task('count'),
    completions: task('completions'),
    embeddings: task('embeddings'),
    rerank: task('rerank'),
    speech: task('speech'),
    transcriptions: task('transcriptions'),
    images: task('images'),
  };
  const refused = (call: InferenceCall, failure: unknown) => recordRefusal(tracker, call, failure);
  return {
    ...tasks,
    responses: serveDialect('responses', tasks, refused),
    messages: serveDialect('messages', tasks, refused),
    messagesCount: serveDialect('messagesCount', tasks, refused),
    recordRefusal: refused,
    drawableModels,
    internal: (call) => callInternally({ settings, tasks }, call),
    models: (query) => ({
      object: 'list',
      data: listModels(createRoutingView(sources), query, drawableModels),
    }),
    model: (id) => findModel(createRoutingView(sources), id, drawableModels),
    tryUpstream: (upstream, model, requestId, res) =>
      tryUpstream({ upstreams, outbound }, { upstream, model, requestId, res }),
    voices: (asked) => listVoices(createRoutingView(sources), asked),
    speakers: () => listSpeakers(createRoutingView(sources)),
    image: (id) => images.cache.open(id),
    explain: (input) =>
      explain(input, createRoutingView(sources), {
        previewSlot: (slot) => slots.preview(slot),
        queueMax: settings.value('queueMax'),
        refusalOf: (upstream) => upstreams.refusal(upstream),
      }),
    running: () => tracker.running(),
    request: (id) => tracker.find(id),
    bodies: (id) => tracker.bodies(id),
    cancel: (id) => tracker.cancel(id),
    async stop() {
      stopped = true;
      availableModels.close();
      for (const life of activeScopes.all()) life.end(draining());
      await images.settled();
      await outbound.close();
    },
  };
}

const draining = () => new GatewayError('slot.draining', { retryAfterS: 5 });
