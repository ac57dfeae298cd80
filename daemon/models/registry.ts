import { totalmem } from 'node:os';
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
import { chooseChatModel } from './choose-chat-model.ts';
import { ConfiguredModelLoader, configuredModel } from './configured-model.ts';
import { DEMO_MODEL_ID } from './demo-model.ts';
import { updateDemoModel } from './demo-model-source.ts';
import { updateEspeakModel } from './espeak-model-source.ts';
import { FolderSync, type ModelProblem } from './folder-sync.ts';
import { fileSize } from './gguf-header.ts';
import { ModelStore } from './model-store.ts';
import { updateNpuModels } from './npu-model-source.ts';
import type { PulledModel } from './pulls/job-deps.ts';
import { readFactsInChild } from './read-facts-in-child.ts';
import { modelView, type RegisteredModel } from './registered-model.ts';
import { removeFiles } from './remove-files.ts';
import { findModelFile } from './scan.ts';

export type { RegisteredModel } from './registered-model.ts';

export interface RegistryOptions {
  store: Pick<Store, 'models' | 'keyValue'>;
  log: Log;
  bus: EventBus<GatewayEvents>;
  settings: Pick<Settings, 'folders' | 'value' | 'resolve'>;
  /** Path given on the command line; stands above the setting. */
  modelOverride?: string | null;
  /** Where the demonstration model lies; default the state folder's `models`. */
  demoFolder?: string;
  /** Folders in which the NPU backend is looked for; default the usual ones. */
  programs?: string;
  /** Most bytes of memory that one model on a device can have on this machine; null = unknown. Default the host's memory. */
  memoryBytes?: (device: string) => number | null;
  /** What each look at the model folders begins with, the first one included. Never rejects. */
  beforeScan?: () => Promise<void>;
  /** Milliseconds that the start waits for each look at the disks; the look goes on afterwards. */
  firstScanMs?: number;
  /** Milliseconds between two looks for the file that a setting names and that was not there. */
  retryMs?: number;
  /** How disks are asked that may not answer; default with the usual limits. */
  mountGuard?: MountGuard;
}

export interface Registry {
  /** Every usable model by id, with its place: not for answers. */
  list(): readonly RegisteredModel[];
  /** The same without a path (`GET /api/models`). */
  views(): ModelRecordView[];
  get(id: string): RegisteredModel | undefined;
  /** Ids of models that are on no list because their files are away, and that may come back. */
  absentIds(): string[];
  /**
   * The chat model of a slot: what `slotModel` names (id or path; null when nobody knows it), else the default rule of
   * slot `agent`: the configured file, the largest real chat model that fits, the demonstration model. With `slot`
   * "agent" a file that the command line or the environment names stands above `slotModel`. `device` is where it must fit,
   * default `auto`.
   */
  chatModelFor(slotModel?: string | null, slot?: string, device?: string): RegisteredModel | null;
  /**
   * Says who answers to a model's id (`slot:NAME`, `upstream:NAME`, null) and how it thinks (null: as its header says);
   * undefined when there is no such model.
   */
  change(id: string, change: ModelPutBody): Promise<ModelRecordView | undefined>;
  /** Registers a file or folder by path; rejects with an Error whose message says why it is no model. */
  register(path: string): Promise<RegisteredModel>;
  /** Registers what a pull has put into its place. Rejects as `register`. */
  registerPulled(pulled: PulledModel): Promise<RegisteredModel>;
  /**
   * Forgets a model that was named by its path, or removes one that was pulled with its files; answers how many files.
   * Rejects with `model.kept` for any other, `model.not_found` for none. One that is absent is forgotten.
   */
  remove(id: string): Promise<number>;
  /** Looks through the model folders again; calls during a look share the one that follows it. Never rejects. */
  scan(): Promise<void>;
  /** Files that look like models and can't be used, and folders that can't be read. */
  problems(): readonly ModelProblem[];
  /** What is wrong with the file that a setting names for slot `agent`. */
  settingProblems(): readonly Problem[];
  close(): void;
}

const FIRST_SCAN_MS = 1500;
/** Longest wait of who registers a model for its projector, which it gets later otherwise. */
const PROJECTOR_MS = 5000;
/** What comes before a look is asked like a disk, because it looks at some. */
const BEFORE_SCAN = 'before the look';

/** The parts that a running registry is made of. */
function assemble(options: RegistryOptions) {
  const { store, log, bus, settings } = options;
  const own = join(settings.folders.state, 'models');
  const demoFolder = options.demoFolder ?? own;
  const demoPath = join(demoFolder, `${DEMO_MODEL_ID}.gguf`);
  const stop = new AbortController();
  const modelStore = new ModelStore(store.models, bus, log);
  const mountGuard = options.mountGuard ?? new MountGuard();
  const sync = new FolderSync({
    modelStore,
    log,
    folders: () => [...settings.value('modelFolders'), own],
    optional: own,
    isExcluded: (path) => path === demoPath,
    mountGuard,
    signal: stop.signal,
  });
  const demo = { modelStore, sync, facts: store.keyValue, log, folder: demoFolder, signal: stop.signal };
  const espeak = { modelStore, isEnabled: () => settings.value('espeak') };
  const npu = { modelStore, ...(options.programs === undefined ? {} : { path: options.programs }) };
  return { stop, modelStore, mountGuard, sync, demo, espeak, npu, own };
}

type RegistryParts = ReturnType<typeof assemble>;

/** Makes sure that a file is on the modelStore, read anew when it has changed since. */
async function registerFile(
  { modelStore, sync, stop }: RegistryParts,
  path: string,
  pulled?: PulledModel,
): Promise<RegisteredModel> {
  // A pull has written its file just now: whether other files of that folder answer says nothing of it.
  const file = await (pulled === undefined
    ? sync.runOnDisk(path, () => findModelFile(path))
    : findModelFile(path));
  if (file === null) {
    await sync.runOnDisk(path, () => fileSize(path));
    throw new Error('it is no model file');
  }
  const known = sync.restore(file) ?? modelStore.byPath(file.path);
  if (
    pulled === undefined &&
    known !== undefined &&
    known.mtimeS === file.mtimeS &&
    known.sizeBytes === file.sizeBytes
  )
    return known;
  const [outcome] = await readFactsInChild([file.path], stop.signal);
  if (outcome === undefined || 'reason' in outcome)
    throw new Error(outcome?.reason ?? 'the registry is closing');
  if (pulled === undefined) return sync.register(known?.source ?? 'register', file, outcome.facts);
  const { repo, revision, sha256, licence } = pulled;
  return sync.register('pull', file, outcome.facts, { repo, revision, sha256, licence });
}

/** Says how a model thinks; null brings back what its header says. */
async function effectiveThinking({ stop }: RegistryParts, model: RegisteredModel, chosen: boolean | null) {
  if (chosen !== null) return { enable_thinking: chosen, thinkingChosen: true };
  if (model.format !== 'gguf') return { enable_thinking: null, thinkingChosen: false };
  const [outcome] = await readFactsInChild([model.path], stop.signal);
  const facts = outcome !== undefined && 'facts' in outcome ? outcome.facts : null;
  const own = facts !== null && 'enableThinking' in facts ? facts.enableThinking : null;
  return { enable_thinking: own, thinkingChosen: false };
}

async function removeModel({ modelStore, own }: RegistryParts, id: string): Promise<number> {
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

/** Waits for work that never rejects, but no longer than `ms`; the work goes on. */
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
  const parts = assemble(options);
  const { modelStore, mountGuard, sync, stop, demo, espeak, npu } = parts;
  const { beforeScan = async () => {}, firstScanMs = FIRST_SCAN_MS } = options;
  const named = configuredModel(settings, options.modelOverride ?? null);
  const configured = new ConfiguredModelLoader({
    ...{ named, log, signal: stop.signal },
    modelAt: (path) => modelStore.byPath(path),
    runOnDisk: (path, work) => sync.runOnDisk(path, work),
    register: (path) => registerFile(parts, path),
    // Its disk may hold others, and the demonstration model goes.
    onAvailable: () => scan(),
    ...(options.retryMs === undefined ? {} : { retryMs: options.retryMs }),
  });

  const scan = coalesceAsync(async () => {
    if (stop.signal.aborted) return;
    await mountGuard
      .run(BEFORE_SCAN, beforeScan)
      .catch((error: Error) => log.warn({ reason: error.message }, 'models of other programs are as before'));
    await sync
      .sync()
      .catch((error: Error) =>
        log.error({ reason: error.message }, 'the model folders could not be scanned'),
      );
    if (stop.signal.aborted) return;
    await updateDemoModel(demo);
    await updateEspeakModel(espeak);
    await updateNpuModels(npu);
  });
  const settled = async (registering: Promise<RegisteredModel>) => {
    const model = await registering;
    await updateDemoModel(demo);
    await updateEspeakModel(espeak);
    return model;
  };
  // Its projector may lie beside it, and whoever looks at the folder gives it to its model.
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
      return own ?? chooseChatModel(modelStore.list(), memoryBytes(device));
    },
    async change(id, { binding, enable_thinking }) {
      const model = modelStore.get(id);
      if (model === undefined) return undefined;
      const thinking =
        enable_thinking === undefined ? {} : await effectiveThinking(parts, model, enable_thinking);
      const changed = modelStore.change(id, { ...thinking, ...(binding === undefined ? {} : { binding }) });
      return changed && modelView(changed);
    },
    register: (path) => withProjector(registerFile(parts, resolve(path))),
    registerPulled: (pulled) => withProjector(registerFile(parts, pulled.path, pulled)),
    remove: (id) => removeModel(parts, id),
    scan,
    problems: () => sync.problems(),
    settingProblems: () => configured.problems(),
    close: () => stop.abort(),
  };
}
