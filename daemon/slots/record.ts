import { basename } from 'node:path';
import type { SlotRecord, SlotStateName } from '../contract/slots.ts';
import { redactSecrets } from '../lib/text/redact.ts';
import { heldBytes, poolOf } from './admission/memory-use.ts';
import { pendingKeys } from './config/pending-keys.ts';
import type { SlotConfig } from './config/slot-config.ts';
import type { SlotModel } from './engines/engine.ts';
import { speculationOf } from './engines/speculation.ts';
import { type SavedStates, slotConversations } from './kv-cache/slot-conversations.ts';
import type { EngineRun, SlotControllerDeps } from './lifecycle/controller-deps.ts';
import type { Failure } from './lifecycle/failure.ts';
import type { Traffic } from './lifecycle/traffic.ts';
import type { SlotView } from './slot-view.ts';

/** The input of a slot record. */
export interface SlotRecordInput {
  readonly view: SlotView;
  readonly config: SlotConfig;
  /** The model that it would load; null for none. */
  readonly model: SlotModel | null;
  readonly since: number;
  readonly current: EngineRun | null;
  /** Readings that do not come from the slot itself. */
  readonly readers: Pick<SlotControllerDeps, 'residentBytes' | 'secrets' | 'savedStates'>;
  readonly traffic: Readonly<Traffic>;
  /** The slots that its load waits for. */
  readonly waitsFor: readonly string[];
  readonly failure: Failure | null;
  /** The engine that it shares; null when it shares none. */
  readonly shared: SlotRecord['shared_engine'] | null;
}

/** States in which an earlier failure is still shown. */
const FAILING: readonly SlotStateName[] = ['error', 'pulling', 'starting', 'warming', 'stopping'];

function failureView({ view: { state }, failure }: SlotRecordInput): SlotRecord['failure'] {
  if (failure === null || !FAILING.includes(state)) return null;
  const { reason, failures, parked, retryAt } = failure;
  return { reason, failures, parked, retry_at: retryAt };
}

/**
 * Returns the model id under which requests reach a slot: of the model that runs, or of the one that would be
 * loaded. A running demonstration model does not count when there is a real one, because it is about to yield.
 */
export function servedModelId(
  current: Pick<EngineRun, 'launch'> | null,
  model: SlotModel | null,
): string | null {
  const launch = current?.launch;
  return launch !== undefined && !launch.demo ? launch.modelId : (model?.id ?? null);
}

/** Returns the progress of a load, if there is one and its engine reports it. */
function progressView({ view: { state }, current }: SlotRecordInput): Pick<SlotRecord, 'progress'> {
  const share = state === 'starting' || state === 'pulling' ? current?.running.progress() : null;
  return share == null ? {} : { progress: share };
}

/** Returns the name of a model in the slot file that does not exist. */
function missingView({ view, config, readers }: SlotRecordInput): Pick<SlotRecord, 'model_missing'> {
  if (view.model !== null || config.model === null) return {};
  // The value is unchecked: it may be anything that was put into the file, even a key by accident.
  const named = redactSecrets(config.model, readers.secrets?.() ?? []);
  const path = /^(\.{0,2}|~[^/]*)\//.test(config.model) || /^[^:]*\/[^:]*\.gguf$/i.test(config.model);
  return { model_missing: path ? basename(named) : named };
}

/** Returns whether it predicts tokens, or would after the next load. */
function speculationView(input: SlotRecordInput): Pick<SlotRecord, 'speculation'> {
  const { config, current, model } = input;
  const isOwn = current !== null && !isGuest(input);
  const known = isOwn ? current.launch.speculation : model && speculationOf(config, model);
  return known ? { speculation: known } : {};
}

function conversationsView({
  view,
  config,
  current,
  readers,
}: SlotRecordInput): Pick<SlotRecord, 'conversations'> {
  const states: SavedStates | undefined = readers.savedStates;
  if (states === undefined) return {};
  const { config: served = config, launch = null } = current ?? {};
  const conversations = slotConversations(served, { launch, modelId: view.model }, states);
  return conversations === undefined ? {} : { conversations };
}

/** Whether the engine of another slot serves this one. */
const isGuest = ({ config, shared }: SlotRecordInput): boolean =>
  shared != null && shared.slot !== null && shared.slot !== config.name;

/** Returns the keys of the slot file that the running engine does not use yet. The settings of a guest are equal. */
function pendingView(input: SlotRecordInput): Pick<SlotRecord, 'pending'> {
  const { config, current } = input;
  const keys = current === null || isGuest(input) ? [] : pendingKeys(current.config, config);
  return keys.length === 0 ? {} : { pending: keys };
}

/** Returns the slot as clients see it, without paths, addresses and keys. */
export function slotRecord(input: SlotRecordInput): SlotRecord {
  const { view, config, current, readers, traffic } = input;
  const pid = current?.running.pid ?? null;
  return {
    name: view.name,
    enabled: view.enabled,
    auto: config.auto,
    type: view.type,
    engine: view.engine,
    runner: view.runner,
    model: view.model,
    ...missingView(input),
    demo: view.demo,
    state: view.state,
    since: input.since,
    ...progressView(input),
    device: view.device,
    degraded: view.degraded,
    context: view.context,
    parallel: view.parallel,
    threads: current?.launch.threads || null,
    pid,
    active: view.active,
    ...(traffic.abandoned > 0 && { abandoned: traffic.abandoned }),
    queued: view.queued,
    requests: traffic.requests,
    tokens_per_second: traffic.tokensPerSecond,
    // The memory of a shared engine counts once, in the record of the slot that loaded it.
    memory_bytes: pid === null || isGuest(input) ? null : readers.residentBytes(pid),
    ...(view.vision && { vision: true }),
    ...speculationView(input),
    ...conversationsView(input),
    ...pendingView(input),
    pinned: config.pinned,
    waiting_for: [...input.waitsFor],
    memory:
      current === null || isGuest(input)
        ? null
        : { pool: poolOf(current), needed_bytes: heldBytes(current), source: current.needSource },
    ...(input.shared && { shared_engine: input.shared }),
    failure: failureView(input),
  };
}
