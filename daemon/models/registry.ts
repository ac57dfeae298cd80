import { homedir, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from '../contract/errors.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { ModelPutBody, ModelRecordView } from '../contract/models.ts';
import { coalesceAsync } from '../lib/async/coalesce-async.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import { MountGuard } from '../lib/fs/mount-guard.ts';
import type { Log } from '../lib/log.ts';
import type { Problem } from '../settings/problem.ts';
import type { Settings } from '../settings/settings.ts';
import type { Store } from '../store/store.ts';
import { AgentChoice } from './agent-choice.ts';
import { ConfiguredModelLoader, configuredModel } from './configured-model.ts';
import { DEMO_MODEL_ID } from './demo-model.ts';
import { updateDemoModel } from './demo-model-source.ts';
import { updateEspeakModel } from './espeak-model-source.ts';
import { FolderSync, isCurrent, type ModelProblem } from './folder-sync.ts';
import { fileSize } from './gguf-header.ts';
import { ModelStore } from './model-store.ts';
import { updateNpuModels } from './npu-model-source.ts';
import type { PulledModel } from './pulls/job-deps.ts';
import { type MetadataReader, readMetadataInChild } from './read-metadata-in-child.ts';
import { modelView, type RegisteredModel } from './registered-model.ts';
import { removeFiles } from './remove-files.ts';
import { findModelFile } from './scan.ts';
import { simulateModels } from './simulate-models.ts';
import { speechPathAt } from './speech-path.ts';
import { isEmbeddedChat } from './unusable-formats.ts';
import { FolderWatch, type WatchedPaths } from './watch-folders.ts';

export type { RegisteredModel } from './registered-model.ts';

export interface RegistryOptions {
  store: Pick<Store, 'models' | 'keyValue'>;
  log: Log;
  bus: EventBus<GatewayEvents>;
  settings: Pick<Settings, 'folders' | 'value' | 'resolve'>;
  /** Path from the command line. Overrides the setting. */
  modelOverride?: string | null;
  /** Folder of the demonstration model. Default: `models` in the state folder. */
  demoFolder?: string;
  /** The search path for the NPU backend. Default: the usual folders. */
  programs?: string;
  /** Maximum bytes of memory for one model on a device. Null: unknown. Default: the host's memory. */
  memoryBytes?: (device: string) => number | null;
  /** Runs before each scan of the model folders, including the first. Never rejects. */
  beforeScan?: () => Promise<void>;
  /** Milliseconds that the start waits for each scan. The scan continues afterwards. */
  firstScanMs?: number;
  /** Milliseconds between two searches for a configured file that is missing. */
  retryMs?: number;
  /** Returns whether an engine serves a model. Default: none does. */
  isLoaded?: (id: string) => boolean;
  /** Guards operations on disks that may not respond. Default: the usual limits. */
  mountGuard?: MountGuard;
  /** Reads the headers of models. Default: in a child process. */
  readMetadata?: MetadataReader;
}

export interface Registry {
  /** Returns every usable model by id, with its path: not for responses. */
  list(): readonly RegisteredModel[];
  /** Returns the models without paths (`GET /api/models`). */
  views(): ModelRecordView[];
  get(id: string): RegisteredModel | undefined;
  /** Returns the ids of absent models, which may return. */
  absentIds(): string[];
  /**
   * Returns the chat model of a slot: the one that `slotModel` names (id or path; null when unknown), else by
   * the rule of slot `agent`: the configured file, the model that has served, the largest real chat model that
   * fits and whose last load did not fail, the demonstration model. For `slot` "agent", a file from the command line or the environment overrides `slotModel`.
   * `device` is where it must fit, default `auto`.
   */
  chatModelFor(slotModel?: string | null, slot?: string, device?: string): RegisteredModel | null;
  /**
   * Returns a larger chat model that the owner could use as `agent` on a device; null when there is none, or when a
   * setting names the model.
   */
  agentOffer(device?: string): RegisteredModel | null;
  /** Whether the command line or a setting names the model of slot `agent`, and it can be served. */
  isAgentConfigured(): boolean;
  /** Makes a model the one of slot `agent`. False when there is no such chat model. */
  chooseAgent(id: string): boolean;
  /** Records the end of a load. `servesAgent`: slot `agent` loaded it, and no file names it. */
  recordLoad(id: string, outcome: 'loaded' | 'failed', servesAgent: boolean): void;
  /**
   * Sets the binding of a model's id (`slot:NAME`, `upstream:NAME`, null) and its thinking mode (null: from
   * its header). Undefined when there is no such model.
   */
  change(id: string, change: ModelPutBody): Promise<ModelRecordView | undefined>;
  /** Registers a file or folder by path. Rejects with an Error that says why it is no model. */
  register(path: string): Promise<RegisteredModel>;
  /** Registers an installed pull. Rejects like `register`. */
  registerPulled(pulled: PulledModel): Promise<RegisteredModel>;
  /**
   * Unregisters a model that was registered by path, or removes a pulled one with its files. Returns the
   * number of removed files. Rejects with `model.kept` for any other model and `model.not_found` for an
   * unknown one. An absent model is unregistered.
   */
  remove(id: string): Promise<number>;
  /** Scans the model folders again. Calls during a scan share the next one. Never rejects. */
  scan(): Promise<void>;
  /** Returns the folders and files of the last scan with their states, by model folder. */
  watched(): ReadonlyMap<string, WatchedPaths>;
  /**
   * Checks the model folders for a model that a request names and nothing has, at most every two seconds. Returns
   * whether they changed and were scanned.
   */
  refresh(): Promise<boolean>;
  /** Scans the model folders again whenever they change. Ends with `close`. */
  watch(): void;
  /** Call it when a slot was unloaded: a model whose folder is away is removed. */
  slotChanged(): void;
  /** Returns files that look like models and cannot be used, and folders that cannot be read. */
  problems(): readonly ModelProblem[];
  /** Returns what is wrong with the configured file of slot `agent`. */
  settingProblems(): readonly Problem[];
  close(): void;
}

const FIRST_SCAN_MS = 1500;
/** Maximum time to wait for a projector when a model is registered. Otherwise it is attached later. */
const PROJECTOR_MS = 5000;
/** The work before a scan runs under the mount guard, because it reads disks. */
const BEFORE_SCAN = 'before the scan';

/** Creates the parts of a running registry. */
function assemble(options: RegistryOptions) {
  const { store, log, bus, settings } = options;
  const own = join(settings.folders.state, 'models');
  const demoFolder = options.demoFolder ?? own;
  const demoPath = join(demoFolder, `${DEMO_MODEL_ID}.gguf`);
  const stop = new AbortController();
  const modelStore = new ModelStore(store.models, bus, log);
  const { mountGuard = new MountGuard(), readMetadata = readMetadataInChild } = options;
  const sync = new FolderSync({
    modelStore,
    log,
    folders: () => [...settings.value('modelFolders'), own],
    optional: own,
    isExcluded: (path) => path === demoPath,
    isLoaded: options.isLoaded ?? (() => false),
    mountGuard,
    readMetadata,
    signal: stop.signal,
  });
  const agent = new AgentChoice({
    store: store.keyValue,
    models: () => modelStore.list(),
    absentIds: () => modelStore.absent().map(({ id }) => id),
  });
  const isUsable = (model: RegisteredModel) => agent.hasServed || !agent.hasFailed(model);
  const demo = { modelStore, sync, keyValue: store.keyValue, log, folder: demoFolder, isUsable };
  const espeak = { modelStore, isEnabled: () => settings.value('espeak') };
  const npu = { modelStore, ...(options.programs === undefined ? {} : { path: options.programs }) };
  return { stop, modelStore, mountGuard, readMetadata, sync, agent, demo, espeak, npu, own };
}

type AssembledRegistry = ReturnType<typeof assemble>;

/** Ensures that a file is in the store. Reads it again if it has changed. */
async function registerFile(
  { modelStore, sync, stop, readMetadata }: AssembledRegistry,
  path: string,
  pulled?: PulledModel,
): Promise<RegisteredModel> {
  // A pull has just written its file, so other files of that folder that do not respond do not matter.
  const file = await (pulled === undefined
    ? sync.runOnDisk(path, async () => findModelFile(await speechPathAt(path)))
    : findModelFile(await speechPathAt(path)));
  if (file === null) {
    await sync.runOnDisk(path, () => fileSize(path));
    throw new Error('it is not a model file');
  }
  const known = sync.restore(file) ?? modelStore.byPath(file.path);
  if (pulled === undefined && isCurrent(file, known)) return known;
  const [outcome] = await readMetadata([file.path], stop.signal);
  if (outcome === undefined || 'reason' in outcome)
    throw new Error(outcome?.reason ?? 'the registry is closing');
  if (pulled === undefined) return sync.register(known?.source ?? 'register', file, outcome.metadata);
  const { repo, revision, sha256, licence } = pulled;
  return sync.register('pull', file, outcome.metadata, { repo, revision, sha256, licence });
}

/** Returns the thinking mode of a model. Null restores the value of its header. */
async function effectiveThinking(
  { stop, readMetadata }: AssembledRegistry,
  model: RegisteredModel,
  chosen: boolean | null,
) {
  if (chosen !== null) return { enable_thinking: chosen, thinkingChosen: true };
  if (model.format !== 'gguf') return { enable_thinking: null, thinkingChosen: false };
  const [outcome] = await readMetadata([model.path], stop.signal);
  const metadata = outcome !== undefined && 'metadata' in outcome ? outcome.metadata : null;
  const own = metadata !== null && 'enableThinking' in metadata ? metadata.enableThinking : null;
  return { enable_thinking: own, thinkingChosen: false };
}

async function removeModel({ modelStore, own }: AssembledRegistry, id: string): Promise<number> {
  const model = modelStore.get(id);
  if (model === undefined) {
    if (!modelStore.remove(id)) throw new GatewayError('model.not_found');
    return 0;
  }
  const others = modelStore.list().filter((other) => other !== model);
  const removed = model.source === 'register' ? 0 : await removeFiles(own, model, others);
  modelStore.remove(id);
  return removed;
}

/** Waits for work that never rejects for at most `ms`. The work continues. */
async function waitUpTo(work: Promise<unknown>, ms: number): Promise<void> {
  const enough = new AbortController();
  await Promise.race([work, pause(ms, undefined, { signal: enough.signal }).catch(() => {})]);
  enough.abort();
}

/**
 * Returns the models of this machine (docs/spec/contract.md#models): models of earlier runs, the configured
 * file, what the first scan finds in its time, and the demonstration model when there is no real one. Rejects
 * with SetupError when a file named on the command line cannot serve a chat. Any other failure costs one
 * model and a line in the log.
 */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const { log, settings, memoryBytes = totalmem } = options;
  const assembled = assemble(options);
  const { modelStore, mountGuard, sync, stop, agent, demo, espeak, npu } = assembled;
  const { beforeScan = async () => {}, firstScanMs = FIRST_SCAN_MS } = options;
  const named = configuredModel(settings, options.modelOverride ?? null);
  const configured = new ConfiguredModelLoader({
    ...{ named, log, signal: stop.signal },
    modelAt: (path) => modelStore.byPath(path),
    runOnDisk: (path, work) => sync.runOnDisk(path, work),
    register: (path) => registerFile(assembled, path),
    // Its disk may contain other models, and the demonstration model is removed.
    onAvailable: () => scan(),
    ...(options.retryMs === undefined ? {} : { retryMs: options.retryMs }),
  });

  const simulate = coalesceAsync(() => simulateModels({ modelStore, log, signal: stop.signal }));
  const scan = coalesceAsync(async () => {
    if (stop.signal.aborted) return;
    await mountGuard
      .run(BEFORE_SCAN, beforeScan)
      .catch((error: Error) =>
        log.warn({ reason: error.message }, 'models of other programs could not be changed'),
      );
    await sync
      .sync()
      .catch((error: Error) =>
        log.error({ reason: error.message }, 'the model folders could not be scanned'),
      );
    if (stop.signal.aborted) return;
    await updateDemoModel(demo);
    await updateEspeakModel(espeak);
    await updateNpuModels(npu);
    void simulate();
  });
  const folderWatch = new FolderWatch({ watched: () => sync.watched(), scan, mountGuard, log });
  const settled = async (registering: Promise<RegisteredModel>) => {
    const model = await registering;
    await updateDemoModel(demo);
    await updateEspeakModel(espeak);
    return model;
  };
  // Its projector may be in the same folder. The next scan of that folder attaches it.
  const withProjector = async (registering: Promise<RegisteredModel>) => {
    const model = await settled(registering);
    await waitUpTo(scan(), PROJECTOR_MS);
    return modelStore.get(model.id) ?? model;
  };
  const known = (model: string) => modelStore.get(model) ?? modelStore.byPath(resolve(model)) ?? null;

  await waitUpTo(sync.dropVanished(), firstScanMs);
  await configured.start();
  await waitUpTo(scan(), firstScanMs);
  await updateDemoModel(demo);

  return {
    list: () => modelStore.list(),
    views: () => modelStore.list().map(modelView),
    get: (id) => modelStore.get(id),
    absentIds: () => modelStore.absent().map(({ id }) => id),
    chatModelFor(slotModel, slot, device = 'auto') {
      const own = configured.model();
      if (slot === 'agent' && named?.explicit && own !== null) return own;
      if (slotModel) return known(slotModel);
      return own ?? agent.choose(memoryBytes(device));
    },
    agentOffer: (device = 'auto') => (configured.model() === null ? agent.offer(memoryBytes(device)) : null),
    isAgentConfigured: () => configured.model() !== null,
    chooseAgent(id) {
      const model = modelStore.get(id);
      if (model === undefined || !isEmbeddedChat(model)) return false;
      agent.decide(id);
      return true;
    },
    recordLoad(id, outcome, servesAgent) {
      if (outcome === 'loaded') return agent.loaded(id, servesAgent);
      agent.failed(id);
      // Without another real model the demonstration model serves again.
      void updateDemoModel(demo);
    },
    async change(id, { binding, enable_thinking }) {
      const model = modelStore.get(id);
      if (model === undefined) return undefined;
      const thinking =
        enable_thinking === undefined ? {} : await effectiveThinking(assembled, model, enable_thinking);
      const changed = modelStore.change(id, { ...thinking, ...(binding === undefined ? {} : { binding }) });
      return changed && modelView(changed);
    },
    register: (path) => withProjector(registerFile(assembled, resolve(path.replace(/^~(?=\/)/, homedir())))),
    registerPulled: (pulled) => withProjector(registerFile(assembled, pulled.path, pulled)),
    remove: (id) => removeModel(assembled, id),
    scan,
    watched: () => sync.watched(),
    refresh: () => folderWatch.checkForRequest(),
    watch: () => folderWatch.start(),
    slotChanged: () => {
      if (sync.hasUnloaded()) void scan();
    },
    problems: () => sync.problems(),
    settingProblems: () => configured.problems(),
    close: () => {
      folderWatch.close();
      stop.abort();
    },
  };
}
