import type { MemorySumView } from '../../contract/slots.ts';
import { type Holder, type MemorySnapshot, memorySum } from '../admission/eviction.ts';
import { embedded } from '../engines/embedded.ts';
import type { EngineRun } from '../lifecycle/controller-deps.ts';
import { MODEL, slotConfig } from './controller-bench.ts';
import { ScriptedEngine } from './scripted-runner.ts';

/** Returns a load without other slots, with the given changes. */
export const memorySnapshot = (over: Partial<MemorySnapshot> = {}): MemorySnapshot => ({
  pool: 'host',
  needed: 1,
  free: 0,
  reserved: 0,
  unreported: 0,
  limit: null,
  ahead: 0,
  awaited: [],
  holders: [],
  waitingSince: 0,
  now: 0,
  isRequested: true,
  ...over,
});

export const sumOf = (over: Partial<MemorySnapshot>): MemorySumView => memorySum(memorySnapshot(over));

/** Returns a slot that has been idle for a long time, with the given changes. */
export const holderOf = (name: string, over: Partial<Holder> = {}): Holder => ({
  name,
  state: 'loaded',
  serving: false,
  pinned: false,
  priority: 0,
  heldBytes: 1,
  freedBytes: 1,
  reloadMs: 1_000,
  readySince: 0,
  lastUsedAt: 0,
  ...over,
});

/** Returns an engine on a device, or (null) one that is loading. */
export function currentOf(device: string | null, over: Partial<EngineRun> = {}): EngineRun {
  const config = slotConfig();
  const launch = embedded.plan({ config, model: MODEL, threads: 1, queueLimit: 64 });
  const loaded = { origin: '', headers: {}, device: device ?? '', context: 1, parallel: 1, threads: 4 };
  return {
    launch,
    pool: 'host',
    neededBytes: 1,
    needSource: 'estimated',
    estimatedBytes: 1,
    weightBytes: 1,
    config,
    running: new ScriptedEngine(launch),
    trial: false,
    control: new AbortController(),
    startedAt: 0,
    loaded: device === null ? null : loaded,
    readySince: device === null ? null : 0,
    ...over,
  };
}
