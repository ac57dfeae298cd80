import { basename } from 'node:path';
import type { SlotRecord, SlotStateName } from '../contract/slots.ts';
import { hideSecrets } from '../lib/text/redact.ts';
import { poolOf } from './admission/memory-use.ts';
import type { SlotConfig } from './config/slot-file.ts';
import type { SlotModel } from './engines/engine.ts';
import type { Current, OwnerParts } from './lifecycle/controller-deps.ts';
import type { Failure } from './lifecycle/failure.ts';
import type { Traffic } from './lifecycle/traffic.ts';
import type { SlotGlance } from './slot-view.ts';

/** All that the record of a slot is made from. */
export interface SlotFacts {
  readonly glance: SlotGlance;
  readonly config: SlotConfig;
  readonly since: number;
  readonly current: Current | null;
  /** What is read from outside. */
  readonly outside: Pick<OwnerParts, 'residentBytes' | 'secrets'>;
  readonly traffic: Readonly<Traffic>;
  /** Slots that its load waits for. */
  readonly waitsFor: readonly string[];
  readonly failure: Failure | null;
}

/** States in which an earlier failure is still the news. */
const FAILING: readonly SlotStateName[] = ['error', 'pulling', 'starting', 'warming', 'stopping'];

function failureView({ glance: { state }, failure }: SlotFacts): SlotRecord['failure'] {
  if (failure === null || !FAILING.includes(state)) return null;
  const { reason, failures, parked, retryAt } = failure;
  return { reason, failures, parked, retry_at: retryAt };
}

/**
 * The id under which requests reach a slot: of the model that runs, or of the one that would be loaded. The demonstration
 * model does not count while it runs in the place of a real one: it is about to step aside.
 */
export function answersTo(current: Pick<Current, 'launch'> | null, model: SlotModel | null): string | null {
  const launch = current?.launch;
  return launch !== undefined && !launch.demo ? launch.modelId : (model?.id ?? null);
}

/** How far a load is, while there is one and its engine tells. */
function progressView({ glance: { state }, current }: SlotFacts): Pick<SlotRecord, 'progress'> {
  const share = state === 'starting' || state === 'pulling' ? current?.running.progress() : null;
  return share == null ? {} : { progress: share };
}

/** The model that the file names and nobody knows. */
function missingView({ glance, config, outside }: SlotFacts): Pick<SlotRecord, 'model_missing'> {
  if (glance.model !== null || config.model === null) return {};
  // Nobody has looked at it yet: it may be anything that was put into the file, a key by accident.
  const named = hideSecrets(config.model, outside.secrets?.() ?? []);
  const path = /^(\.{0,2}|~[^/]*)\//.test(config.model) || /^[^:]*\/[^:]*\.gguf$/i.test(config.model);
  return { model_missing: path ? basename(named) : named };
}

/** The slot as clients see it; no path, no address, no key. */
export function slotRecord(facts: SlotFacts): SlotRecord {
  const { glance, config, current, outside, traffic } = facts;
  const pid = current?.running.pid ?? null;
  return {
    name: glance.name,
    enabled: glance.enabled,
    auto: config.auto,
    type: glance.type,
    engine: glance.engine,
    runner: glance.runner,
    model: glance.model,
    ...missingView(facts),
    demo: glance.demo,
    state: glance.state,
    since: facts.since,
    ...progressView(facts),
    device: glance.device,
    degraded: glance.degraded,
    context: glance.context,
    parallel: glance.parallel,
    threads: current?.launch.threads || null,
    pid,
    active: glance.active,
    queued: glance.queued,
    requests: traffic.requests,
    tokens_per_second: traffic.tokensPerSecond,
    memory_bytes: pid === null ? null : outside.residentBytes(pid),
    ...(glance.vision && { vision: true }),
    pinned: config.pinned,
    waiting_for: [...facts.waitsFor],
    memory: current && {
      pool: poolOf(current),
      needed_bytes: current.neededBytes,
      source: current.needSource,
    },
    failure: failureView(facts),
  };
}
