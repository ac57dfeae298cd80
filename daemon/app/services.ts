import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createAuth } from '../auth/auth.ts';
import { assertRestoreComplete } from '../backup/incomplete-restore.ts';
import { createCompanion } from '../companion/companion.ts';
import type { GatewayEvents } from '../contract/events.ts';
import { containerSockets } from '../hardware/container-sockets.ts';
import { createHardware } from '../hardware/hardware.ts';
import { MemoryBandwidth } from '../hardware/memory-bandwidth.ts';
import { loadDashboard } from '../http/dashboard-files.ts';
import { addressWaitFor } from '../http/listen.ts';
import { createMatcher } from '../http/matcher.ts';
import { readBytes, receiveInto } from '../http/receive-body.ts';
import { refusalRecorder } from '../http/record-refusal.ts';
import { type HttpServer, startHttp } from '../http/server.ts';
import { liveNames } from '../inference/dispatch/configured-names.ts';
import { memoryEmbedder } from '../inference/memory-embedder.ts';
import { ModelBench, type ModelBenchDeps } from '../inference/model-bench.ts';
import { createOmni } from '../inference/omni/omni.ts';
import { createRealtime } from '../inference/realtime/realtime.ts';
import { createInference } from '../inference/serve.ts';
import { EventBus } from '../lib/async/event-bus.ts';
import { ContainerEngine } from '../lib/container-engine/container-engine.ts';
import { MountGuard } from '../lib/fs/mount-guard.ts';
import { ROOT } from '../lib/fs/root.ts';
import { createLog } from '../lib/log.ts';
import { isLoopback } from '../lib/net/addresses.ts';
import { inheritedListener } from '../lib/net/inherited-listener.ts';
import { Outbound } from '../lib/net/outbound.ts';
import { processTree } from '../lib/process/process-memory.ts';
import { LogLines } from '../lib/text/log-lines.ts';
import { createRedactor } from '../lib/text/redact.ts';
import { NAME, VERSION } from '../lib/version.ts';
import { createMemory } from '../memory/memory.ts';
import { BenchResults } from '../models/bench-results.ts';
import { openCatalog } from '../models/catalog-store.ts';
import { createHub } from '../models/hub/hub.ts';
import { remoteHeaders } from '../models/hub/remote-header.ts';
import { pullObjection } from '../models/pulls/pull-objection.ts';
import { createPulls } from '../models/pulls/pulls.ts';
import { createRegistry } from '../models/registry.ts';
import { unservedFormat } from '../models/unusable-formats.ts';
import { configWrite } from '../routes/config-write.ts';
import type { RouteDeps } from '../routes/deps.ts';
import { createHandlers } from '../routes/handlers.ts';
import { realtimeSocket } from '../routes/v1/realtime.ts';
import { isWritable } from '../settings/folders.ts';
import { openSettings } from '../settings/open-settings.ts';
import { publishAddress } from '../settings/publish-address.ts';
import type { Settings } from '../settings/settings.ts';
import { renewLinks } from '../setup/renew-links.ts';
import { createSetup, type SetupDeps } from '../setup/setup.ts';
import { memoryDevice } from '../slots/engines/common.ts';
import { createSlots } from '../slots/slots.ts';
import type { Slots } from '../slots/slots-api.ts';
import { lockState } from '../store/state-lock.ts';
import { openStore } from '../store/store.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { createMinutes } from '../telemetry/minutes.ts';
import { createRefusedRequests } from '../telemetry/refused-requests.ts';
import { createTracer } from '../telemetry/traces/tracer.ts';
import { createUpstreams } from '../upstreams/upstreams.ts';
import { assertConfigReadable } from './config-guard.ts';
import { defaultContexts } from './default-context.ts';
import { assertExposureAllowed, isOnTheInternet, networkAddresses } from './exposure-guard.ts';
import { followLoads, isModelLoaded } from './follow-loads.ts';
import { followProxies } from './follow-proxies.ts';
import { openKvCache } from './kv-cache.ts';
import { maxModelBytes, memoryHeadroom } from './memory-headroom.ts';
import { modelSpeeds } from './model-speed.ts';
import { retentionLimits, slotPersistence } from './retention-settings.ts';
import { statusLine } from './service-status.ts';
import type { ServiceOverrides, Services } from './services-api.ts';
import { totalFit } from './total-fit.ts';
import { unusedGpuMessage } from './unused-gpu.ts';
import { watchConfig } from './watch-config.ts';

/** Time limit for a clean stop beyond the drain limit and the save of conversations (ms). The process exits then. */
const STOP_MARGIN_MS = 10_000;
/** How long setup waits for the speed of this machine, in milliseconds. It takes a second unless the machine is busy. */
const MEASURE_WAIT_MS = 8_000;

/** The composition root: every factory is called once, from top to bottom. */
export async function startServices(
  env: Record<string, string | undefined>,
  model: string | null,
  { quiet = false, ...overrides }: ServiceOverrides = {},
): Promise<Services> {
  let settings: Settings | null = null;
  const logLines = new LogLines();
  const log = createLog({
    level: 'info',
    secrets: () => settings?.secrets() ?? [],
    tap: (line) => logLines.push(line),
    ...(quiet ? { write: () => {} } : {}),
  });
  const live = await openSettings({ env, log, watch: true });
  settings = live;
  log.level = live.value('logLevel');
  assertConfigReadable(live);
  const inherited = inheritedListener(env, process.pid);
  // The address of the actual socket, not that of the settings. The guards depend on it.
  const listenAddress = inherited ?? { host: live.value('bindHost'), port: live.value('port') };
  await assertExposureAllowed(live, log, listenAddress.host);
  const bus = new EventBus<GatewayEvents>();
  const unlock = await lockState(live.folders.state, (reason) =>
    log.warn({ reason }, 'the lock file of the state folder could not be written'),
  );
  assertRestoreComplete(live.folders.state);
  const store = openStore({ folder: live.folders.state, log, limits: () => retentionLimits(live) });
  const proxyFor = followProxies(live, log);
  const outbound = new Outbound({ connectMs: () => live.value('connectTimeoutS') * 1000, proxyFor });
  const hardware = createHardware({
    log,
    bus,
    expectsProbe: true,
    containers: {
      sockets: () => containerSockets(live),
      query: async (socket, signal) => (await ContainerEngine.connect(outbound, socket, signal)).info,
    },
  });
  const mountGuard = new MountGuard();
  let loaded: Pick<Slots, 'list'> | null = null;
  const registry = await createRegistry({
    ...{ store, log, bus, settings: live, modelOverride: model, mountGuard },
    memoryBytes: (device) => maxModelBytes(hardware, device, live.value('memoryLimit')),
    isLoaded: (id) => loaded !== null && isModelLoaded(loaded, id),
    beforeScan: () => renewLinks({ store, settings: live, log }),
  });
  let http: HttpServer | null = null;
  const addDefaultContext = defaultContexts({
    ...{ hardware, bus },
    memoryLimit: () => live.value('memoryLimit'),
  });
  const bandwidth = new MemoryBandwidth({
    store: store.keyValue,
    cores: hardware.coresPhysical(),
    machine: () => {
      const view = hardware.last();
      return view && `${view.host.cpu} ${hardware.coresPhysical()}`;
    },
  });
  const benchResults = new BenchResults(store.keyValue);
  const speedOf = modelSpeeds({ hardware, bandwidth, benchResults });
  const fitByTotals = totalFit({
    hardware,
    memoryLimit: () => live.value('memoryLimit'),
    cpuThreads: () => live.value('cpuThreads'),
    withDefaultContext: addDefaultContext,
  });
  const setupFit: SetupDeps['fit'] = (model, planned) => {
    const fit = fitByTotals(model, planned);
    const speed = speedOf(model, fit);
    return speed === null ? fit : { ...fit, speed };
  };
  const kvCache = openKvCache({ settings: live, log, bus, hardware });
  const slots = createSlots({
    kvCache: kvCache.states,
    reclaimHost: kvCache.reclaimHost,
    ...{ settings: live, log, bus, outbound, mountGuard },
    modelFor: (slot) => {
      const model = addDefaultContext(slot, registry.chatModelFor(slot.model, slot.name, memoryDevice(slot)));
      return model && { ...model, ngram: benchResults.ngramOf(model, slot.device) };
    },
    withDefaultContext: addDefaultContext,
    speedOf,
    // No engine serves the others automatically. They are for engines in slot files.
    models: () => registry.list().filter((model) => unservedFormat(model) === null),
    absentModels: () => registry.absentIds(),
    ...slotPersistence(store),
    headroom: (device, needed, planned) => memoryHeadroom(kvCache.hardware, device, needed, planned),
    rereadCards: () => hardware.reread(),
    cardMemoryOf: (pid, card) => hardware.cardMemory(card, processTree(pid)),
    gpuNote: () => unusedGpuMessage(hardware.view()),
    secrets: () => live.secrets(),
    cores: hardware.coresPhysical(),
    containerSockets: () => containerSockets(live),
    listenPort: () => http?.port ?? live.value('port'),
    ...overrides,
  });
  loaded = slots;
  followLoads(slots, registry, bus);
  const catalog = openCatalog({ keyValue: store.keyValue, outbound, log });
  const hub = createHub({ outbound, settings: live });
  const headers = remoteHeaders({ outbound, hub });
  const pulls = createPulls({
    ...{ store, settings: live, log, bus, outbound, hub, registry },
    objection: pullObjection({ catalog, headers }),
    catalog: () => catalog.entries(),
    onResolved: (requested, facts) => catalog.correct(requested, facts),
  });
  const upstreams = createUpstreams({
    settings: live,
    store,
    bus,
    log,
    outbound,
    ownAddress: () => (http === null ? null : { bindHost: listenAddress.host, port: http.port }),
  });
  const tracer = createTracer({ settings: live, outbound, slots, log, version: VERSION });
  const metrics = createMetrics({
    ...{ version: VERSION, slots, upstreams, hardware, pulls, store, bus },
    spans: tracer,
  });
  const minutes = createMinutes();
  const refusedRequests = createRefusedRequests({
    bus,
    minutes,
    redact: createRedactor(() => live.secrets()),
  });
  const matcher = createMatcher();
  const startedAt = Date.now();
  const loopback = listenAddress.host === 'localhost' || isLoopback(listenAddress.host);
  const listener = () => ({ bindHost: listenAddress.host, port: http?.port ?? listenAddress.port, loopback });
  const auth = await createAuth({
    settings: live,
    store,
    log,
    bus,
    listener,
    secretFile: join(live.folders.state, 'secret.bin'),
    secrets: () => live.secrets(),
  });
  const setup = createSetup({
    settings: live,
    store,
    log,
    bus,
    hardware,
    registry,
    catalog,
    pulls,
    slots,
    fit: setupFit,
    speedKnown: () => Promise.race([bandwidth.ready(), pause(MEASURE_WAIT_MS, false)]),
    hasAdminKey: () => auth.hasKey('admin'),
    enforced: () => auth.enforcement().require_auth,
    listener,
    hasInheritedSocket: inherited !== null,
    isOnTheInternet,
    networkAddresses,
    write: configWrite,
  });
  const inference = createInference({
    spoolFolder: join(live.folders.state, 'spool'),
    imageFolder: join(live.folders.state, 'images'),
    settings: live,
    secrets: () => live.secrets(),
    slots,
    registry,
    upstreams,
    store,
    bus,
    metrics: {
      ...metrics,
      finished: (request) => {
        metrics.finished(request);
        minutes.finished(request);
      },
    },
    tracer,
    savedConversations: (model) => kvCache.states.savedOf(model),
    hasNpu: () => hardware.last()?.devices.some(({ kind }) => kind === 'npu') ?? true,
    proxyFor,
    mountGuard,
    log,
  });
  const memory = createMemory({
    repo: store.memory,
    embedder: memoryEmbedder(inference.internal, slots),
    log,
  });
  const results: ModelBenchDeps['results'] = {
    add: (model, result) => {
      benchResults.add(model, result);
      // The default of the speculation depends on it.
      slots.followModels('');
    },
  };
  const bench = new ModelBench({ internal: inference.internal, slots, registry, results });
  const omni = createOmni({
    inference,
    memory,
    settings: live,
    sources: { slots, registry, upstreams, names: liveNames(settings) },
  });
  const stopping = new AbortController();
  const companion = createCompanion({ settings: live, outbound, signal: stopping.signal });
  const deps: RouteDeps = {
    name: NAME,
    version: VERSION,
    startedAt,
    hostName: hostname(),
    settings: live,
    store,
    log,
    logLines,
    bus,
    auth,
    hardware,
    registry,
    catalog,
    hub,
    headers,
    pulls,
    slots,
    kvCache: kvCache.states,
    bench,
    setup,
    upstreams,
    inference,
    memory,
    companion,
    omni,
    metrics,
    minutes,
    refusedRequests,
    dashboard: loadDashboard(join(ROOT, 'dist', 'dashboard')),
    stopping: stopping.signal,
    listener,
  };
  http = await startHttp(
    {
      auth,
      log,
      matcher,
      handlers: createHandlers(deps, {
        bytes: ({ req, res, state }) => readBytes(req, res, state.route.body),
        receive:
          ({ req, res, state }) =>
          (take, signal) =>
            receiveInto(req, res, state.route.body, take, signal),
      }),
      sockets: { 'v1.realtime': realtimeSocket(createRealtime({ inference, log }), auth) },
      refused: refusalRecorder({ auth, matcher, metrics, refusedRequests }),
      secrets: () => live.secrets(),
    },
    {
      ...listenAddress,
      maxConnections: live.value('maxConnections'),
      addressWaitMs: addressWaitFor(env),
      checkAddress: (address) => assertExposureAllowed(live, log, address),
    },
  );
  const server = http;
  const unpublishAddress = await publishAddress(
    live.folders.state,
    { host: listenAddress.host, port: server.port },
    (reason) =>
      log.warn(
        { reason },
        'could not write the address to the state folder; svcctl may not find the gateway',
      ),
  );
  upstreams.start();
  registry.watch();
  const stopWatchingConfig = watchConfig({ settings: live, log, bus, registry, slots, upstreams });
  void hardware.probeDevices();
  return {
    log,
    stopLimitMs: () => live.value('drainLimitS') * 1000 + STOP_MARGIN_MS + kvCache.states.saveLimitMs(),
    bannerInfo: () => ({
      name: NAME,
      version: VERSION,
      ...listener(),
      folders: live.folders,
      isConfigReadOnly: !isWritable(live.folders.config),
      enforcement: auth.enforcement(),
      hasAdminKey: auth.hasKey('admin'),
      slots: slots.list(),
      problems: [
        ...live.problems(),
        ...registry.settingProblems(),
        ...slots.problems(),
        ...upstreams.problems(),
      ],
    }),
    reload: async () => {
      slots.reload();
      upstreams.reload();
      void registry.scan();
      void hardware.probeDevices();
      await live.reload();
    },
    check: () => store.check(),
    status: () => statusLine(slots.list(), store.health()),
    onStatus: (listener) => void bus.subscribe(({ name }) => name === 'slot' && listener()),
    stop: async () => {
      const drainMs = live.value('drainLimitS') * 1000;
      stopping.abort();
      unpublishAddress();
      await server.stop(drainMs, () => inference.endCalls());
      await memory.stop();
      await inference.stop();
      upstreams.close();
      setup.close();
      await pulls.close();
      kvCache.states.close();
      await slots.stop(drainMs);
      await tracer.stop();
      await outbound.close();
      registry.close();
      stopWatchingConfig();
      metrics.close();
      hardware.close();
      live.close();
      store.close();
      unlock();
    },
  };
}
