import type { ServerResponse } from 'node:http';
import type { AudioModelList, VoiceList } from '../contract/audio.ts';
import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { NameView, V1ModelRecord } from '../contract/models.ts';
import type { ExplainView, RequestBodiesView, RequestDetailView, RequestRecord } from '../contract/system.ts';
import type { UpstreamTestStepView } from '../contract/upstreams.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { MountGuard } from '../lib/fs/mount-guard.ts';
import type { Log } from '../lib/log.ts';
import { SwapRemoveSet } from '../lib/perf/swap-remove-set.ts';
import { createRedactor } from '../lib/text/redact.ts';
import type { Settings } from '../settings/settings.ts';
import type { Slots } from '../slots/slots.ts';
import type { Store } from '../store/store.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { createRequestTracker } from '../telemetry/request-tracker.ts';
import type { Tracer } from '../telemetry/traces/tracer.ts';
import { Encoders } from './audio/encoders.ts';
import { SpoolStore } from './audio/spool-store.ts';
import { listSpeakers, listVoices } from './audio/voices.ts';
import { recordRefusal, runCall } from './call.ts';
import type { CallDeps, InferenceCall } from './call-context.ts';
import { type CatalogueQuery, findModel, listModels } from './catalogue.ts';
import { type DialectName, serveDialect } from './dialects/serve-dialect.ts';
import { liveNames } from './dispatch/configured-names.ts';
import { ConversationAffinity, PrefixMemory } from './dispatch/conversation-prefix.ts';
import { type ExplainInput, explain } from './dispatch/explain.ts';
import { createRoutingView } from './dispatch/routing-view.ts';
import type { CallScope } from './forward/call-scope.ts';
import { EffortSupport } from './forward/effort-support.ts';
import { openEngineConnections } from './forward/engines.ts';
import { ImageSupport } from './forward/image-support.ts';
import { OptionSupport } from './forward/option-support.ts';
import { AvailableModels } from './images/available-models.ts';
import type { CachedImage } from './images/cache.ts';
import { Images } from './images/images.ts';
import type { ReportedModels } from './images/resolve-model.ts';
import { callInternally, type Internal } from './internal.ts';
import { namesView } from './names-view.ts';
import { NO_UPSTREAMS, type RegistryLike, type Upstreams } from './ports.ts';
import { TASKS, type TaskName } from './tasks.ts';
import { tryUpstream } from './try-upstream.ts';

export interface InferenceDeps {
  /** Folder of uploads while they are received. */
  readonly spoolFolder: string;
  /** Folder of generated images. */
  readonly imageFolder: string;
  /** Encodes audio; default with ffmpeg of this machine. */
  readonly encoders?: Encoders;
  readonly settings: Pick<Settings, 'value'>;
  /** Texts that must not appear in any record; default: none. */
  secrets?(): readonly string[];
  readonly slots: Pick<
    Slots,
    'views' | 'get' | 'config' | 'leaseNow' | 'ensureReady' | 'recordUsage' | 'diagnose' | 'preview'
  >;
  readonly registry: RegistryLike;
  /** Returns the number of saved conversations of a model; default none. */
  savedConversations?(model: string): number;
  readonly upstreams?: Upstreams;
  readonly store: { readonly requests: Pick<Store['requests'], 'add'> };
  readonly bus: Pick<EventBus<GatewayEvents>, 'emit' | 'subscribe'>;
  readonly metrics: Pick<Metrics, 'finished'>;
  /** Default: no traces. */
  readonly tracer?: Pick<Tracer, 'begin' | 'finished'>;
  /** Whether this machine has an NPU; default: it has. */
  hasNpu?(): boolean;
  /** Guards reads on disks that may not respond; default: a separate one. */
  readonly mountGuard?: MountGuard;
  /** Returns the proxy for an origin. Null, the default: connect directly. */
  proxyFor?(origin: string): string | null;
  readonly log: Log;
}

const NO_SECRETS: readonly string[] = [];

type Task = (call: InferenceCall) => Promise<void>;

/**
 * Serves the routes of docs/spec/specification.md#v1-routes after the guards: each task writes to `call.res`
 * or throws before the head.
 */
export interface Inference extends Readonly<Record<TaskName | DialectName, Task>> {
  models(query: Pick<CatalogueQuery, 'showAll' | 'owners'>): { object: 'list'; data: V1ModelRecord[] };
  model(id: string): V1ModelRecord | undefined;
  /** `requested` is a model or slot; null returns all voices. */
  voices(requested: string | null): VoiceList;
  speakers(): AudioModelList;
  /** Opens a stored image; null unless the text is the id of one. */
  image(id: string): Promise<CachedImage | null>;
  explain(input: ExplainInput): ExplainView;
  /** Returns the aliases and presets of config.toml, and what they lead to now. */
  names(): NameView[];
  /** Whether config.toml has an alias or preset of exactly this name. */
  hasName(name: string): boolean;
  /**
   * Tests an upstream like a real call: its model list, then a chat of a few tokens when a model is named.
   */
  tryUpstream(
    name: string,
    model: string | null,
    requestId: string,
    res: ServerResponse,
  ): Promise<UpstreamTestStepView[]>;
  readonly reportedModels: ReportedModels;
  /** Records a call that was refused before its task was known. The caller still throws the failure. */
  recordRefusal(call: InferenceCall, failure: unknown): void;
  /** Calls an inference route from inside the gateway. */
  readonly internal: Internal;
  /** Returns the running requests. */
  running(): RequestRecord[];
  /** Returns a running request with its story so far; null when no request has this id. */
  request(id: string): RequestDetailView | null;
  /** Returns the captured bodies of a request, running or finished; null when they were not captured. */
  bodies(id: string): RequestBodiesView | null;
  /** Cancels a running request; false when no request has this id. */
  cancel(id: string): boolean;
  /**
   * Refuses new calls and ends the running ones with `gateway.stopping`: as an error event in a stream, otherwise as
   * 503.
   */
  endCalls(): void;
  /** Ends all calls and closes every connection. */
  stop(): Promise<void>;
}

export function createInference(deps: InferenceDeps): Inference {
  const { settings, slots, registry, store, bus, metrics, log } = deps;
  const upstreams = deps.upstreams ?? NO_UPSTREAMS;
  const sources = {
    ...{ slots, registry, upstreams, npuSuffix: () => settings.value('npuSuffix') },
    names: liveNames(settings),
  };
  const redact = createRedactor(() => deps.secrets?.() ?? NO_SECRETS);
  const tracker = createRequestTracker({
    requests: store.requests,
    bus,
    metrics,
    tracer: deps.tracer,
    redact,
  });
  const outbound = openEngineConnections({
    connectMs: () => settings.value('connectTimeoutS') * 1000,
    proxyFor: deps.proxyFor,
  });
  const activeScopes = new SwapRemoveSet<CallScope>();
  const spools = new SpoolStore(deps.spoolFolder);
  const images = new Images({ folder: deps.imageFolder, outbound, bus, log });
  const prefixes = new PrefixMemory();
  const availableModels = new AvailableModels({ slots, outbound, bus, mountGuard: deps.mountGuard });
  const run: CallDeps = {
    spools,
    images,
    availableModels,
    effortSupport: new EffortSupport(),
    imageSupport: new ImageSupport(),
    prefixes,
    optionSupport: new OptionSupport(),
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
  const endCalls = () => {
    stopped = true;
    for (const scope of activeScopes.all()) scope.end(stopping());
  };
  const task =
    (name: TaskName): Task =>
    (call) =>
      stopped ? Promise.reject(stopping()) : runCall(run, call, TASKS[name]);
  const tasks: Readonly<Record<TaskName, Task>> = {
    chat: task('chat'),
    count: task('count'),
    completions: task('completions'),
    embeddings: task('embeddings'),
    rerank: task('rerank'),
    score: task('score'),
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
    reportedModels: availableModels,
    internal: (call) => callInternally({ settings, tasks }, call),
    models: (query) => ({
      object: 'list',
      data: listModels(
        createRoutingView(sources),
        { ...query, listed: settings.value('modelsListed'), hasNpu: deps.hasNpu?.() ?? true },
        availableModels,
      ),
    }),
    model: (id) => findModel(createRoutingView(sources), id, availableModels),
    tryUpstream: (upstream, model, requestId, res) =>
      tryUpstream({ upstreams, outbound }, { upstream, model, requestId, res }),
    voices: (requested) => listVoices(createRoutingView(sources), requested),
    speakers: () => listSpeakers(createRoutingView(sources)),
    image: (id) => images.cache.open(id),
    explain: (input) =>
      explain(input, createRoutingView(sources), {
        previewSlot: (slot) => slots.preview(slot),
        reportedModels: availableModels,
        queueMax: settings.value('queueMax'),
        chatOf: (slot) => {
          const { speculation = null, conversations, model } = slots.get(slot) ?? {};
          const saved = model == null ? 0 : (deps.savedConversations?.(model) ?? 0);
          return { speculation, conversations: conversations ? { ...conversations, saved } : null };
        },
        fallbacks: { map: settings.value('fallbacks'), isEnabled: settings.value('fallbacksEnabled') },
        refusalOf: (upstream, target) => upstreams.refusal(upstream, target),
        affinityOf: (prefixFor) =>
          new ConversationAffinity(prefixes, prefixFor, () => settings.value('prefixAffinity')),
      }),
    names: () => namesView(createRoutingView(sources), availableModels),
    hasName: (name) => sources.names().entry(name) !== undefined,
    running: () => tracker.running(),
    request: (id) => tracker.find(id),
    bodies: (id) => tracker.bodies(id),
    cancel: (id) => tracker.cancel(id),
    endCalls,
    async stop() {
      availableModels.close();
      endCalls();
      images.stop();
      await images.settled();
      await outbound.close();
    },
  };
}

const stopping = () => new GatewayError('gateway.stopping', { retryAfterS: 5 });
