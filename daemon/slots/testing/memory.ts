import type { MemorySumView } from '../../contract/slots.ts';
import { type Holder, type MemoryPicture, memorySum } from '../admission/eviction.ts';
import { embedded } from '../engines/embedded.ts';
import type { Current } from '../lifecycle/controller-deps.ts';
import { MODEL, slotConfig } from './owner-bench.ts';
import { ScriptedEngine } from './scripted-runner.ts';

/** A load that meets no other slot, but for what a test says. */
export const memoryPicture = (over: Partial<MemoryPicture> = {}): MemoryPicture => ({
  pool: 'host',
  needed: 1,
  free: 0,
  reserved: 0,
  settling: 0,
  limit: null,
  ahead: 0,
  awaited: [],
  holders: [],
  waitingSince: 0,
  now: 0,
  asked: true,
  ...over,
});

export const sumOf = (over: Partial<MemoryPicture>): MemorySumView => memorySum(memoryPicture(over));

/** A slot that has been idle for long, but for what a test says. */
export const holderOf = (name: string, over: Partial<Holder> = {}): Holder => ({
  name,
  state: 'loaded',
  serving: false,
  pinned: false,
  priority: 0,
  holds: 1,
  frees: 1,
  reloadMs: 1_000,
  readySince: 0,
  usedAt: 0,
  ...over,
});

/** An engine on a device, or (null) one that is being loaded. */
export function currentOf(device: string | null, over: Partial<Current> = {}): Current {
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
