import { basename } from 'node:path';
import type { SlotRecord, SlotStateName } from '../contract/slots.ts';
import { hideSecrets } from '../lib/text/redact.ts';
import { poolOf } from './admission/memory-use.ts';
import type { SlotConfig } from './config/slot-config.ts';
import type { SlotModel } from './engines/engine.ts';
import type { EngineRun, SlotControllerDeps } from './lifecycle/controller-deps.ts';
import type { Failure } from './lifecycle/failure.ts';
import type { Traffic } from './lifecycle/traffic.ts';
import type { SlotView } from './slot-view.ts';

/** All that the record of a slot is made from. */
export interface SlotRecordInput {
  readonly view: SlotView;
  readonly config: SlotConfig;
  readonly since: number;
  readonly current: EngineRun | null;
  /** What is read from outside. */
  readonly readers: Pick<SlotControllerDeps, 'residentBytes' | 'secrets'>;
  readonly traffic: Readonly<Traffic>;
  /** Slots that its load waits for. */
  readonly waitsFor: readonly string[];
  readonly failure: Failure | null;
}

/** States in which an earlier failure is still the news. */
const FAILING: readonly SlotStateName[] = ['error', 'pulling', 'starting', 'warming', 'stopping'];

function failureView({ view: { state }, failure }: SlotRecordInput): SlotRecord['failure'] {
  if (failure === null || !FAILING.includes(state)) return null;
  const { reason, failures, parked, retryAt } = failure;
  return { reason, failures, parked, retry_at: retryAt };
}

/**
 * The id under which requests reach a slot: of the model that runs, or of the one that would be loaded. The demonstration
 * model does not count while it runs in the place of a real one: it is about to step aside.
 */
export function servedModelId(
  current: Pick<EngineRun, 'launch'> | null,
  model: SlotModel | null,
): string | null {
  const launch = current?.launch;
  return launch !== undefined && !launch.demo ? launch.modelId : (model?.id ?? null);
}

/** How far a load is, while there is one and its engine tells. */
function progressView({ view: { state }, current }: SlotRecordInput): Pick<SlotRecord, 'progress'> {
  const share = state === 'starting' || state === 'pulling' ? current?.running.progress() : null;
  return share == null ? {} : { progress: share };
}

/** The model that the file names and nobody knows. */
function missingView({ view, config, readers }: SlotRecordInput): Pick<SlotRecord, 'model_missing'> {
  if (view.model !== null || config.model === null) return {};
  // Nobody has looked at it yet: it may be anything that was put into the file, a key by accident.
  const named = hideSecrets(config.model, readers.secrets?.() ?? []);
  const path = /^(\.{0,2}|~[^/]*)\//.test(config.model) || /^[^:]*\/[^:]*\.gguf$/i.test(config.model);
  return { model_missing: path ? basename(named) : named };
}

/** The slot as clients see it; no path, no address, no key. */
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
    queued: view.queued,
    requests: traffic.requests,
    tokens_per_second: traffic.tokensPerSecond,
    memory_bytes: pid === null ? null : readers.residentBytes(pid),
    ...(view.vision && { vision: true }),
    pinned: config.pinned,
    waiting_for: [...input.waitsFor],
    memory: current && {
      pool: poolOf(current),
      needed_bytes: current.neededBytes,
      source: current.needSource,
    },
    failure: failureView(input),
  };
}
