import type { SlotStateName } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import type { EngineRun } from '../lifecycle/controller-deps.ts';
import type { Traffic } from '../lifecycle/traffic.ts';
import type { Holder } from './eviction.ts';

/** Id of the pool of the machine's own memory. */
export const HOST_POOL = 'host';

/** The memory use of one slot, as its controller reports it. */
export interface MemoryUse {
  readonly name: string;
  readonly state: SlotStateName;
  readonly pinned: boolean;
  readonly priority: number;
  /** Unix milliseconds at which its last request started or ended. */
  readonly lastUsedAt: number;
  readonly current: Readonly<EngineRun>;
}

/** Returns the memory use of a slot; null when it has no engine. */
export function memoryUseOf(
  { name, pinned, priority }: Pick<SlotConfig, 'name' | 'pinned' | 'priority'>,
  state: SlotStateName,
  { lastUsedAt }: Pick<Traffic, 'lastUsedAt'>,
  current: Readonly<EngineRun> | null,
): MemoryUse | null {
  return current && { name, state, pinned, priority, lastUsedAt: lastUsedAt, current };
}

/** Readings for one engine that do not come from its slot. */
export interface MemoryReadings {
  /** Anonymous memory of the engine's process, in bytes. */
  readonly anonymous: number;
  /** Milliseconds that a reload would take. */
  readonly reloadMs: number;
}

/** Maximum age of memory readings of GPUs, in milliseconds. */
export const MAX_VRAM_READING_AGE_MS = 6_000;

/**
 * Returns whether an engine runs on the CPU. An external engine may not report its device; it counts as on the CPU
 * when it uses host memory.
 */
export const onCpu = ({ loaded, pool }: Readonly<EngineRun>): boolean =>
  loaded?.device === 'cpu' || (loaded?.device === 'auto' && pool === HOST_POOL);

/** Returns the weights that are mapped from their file, which the kernel may drop. */
export const mappedBytes = ({ mappedBytes: mapped, weightBytes }: Readonly<EngineRun>): number =>
  mapped ?? weightBytes;

/**
 * Returns the bytes of an engine that still count as free: what a load in progress has not taken yet, and what a running
 * engine may take later: mapped weights, or the cache and the buffers of another program.
 */
export function reservedBytes(current: Readonly<EngineRun>, anonymous: number): number {
  const outstanding = Math.max(0, current.neededBytes - anonymous);
  if (current.loaded === null) return current.pool === HOST_POOL ? outstanding : current.neededBytes;
  return onCpu(current) ? Math.min(outstanding, current.deferredBytes ?? current.weightBytes) : 0;
}

/**
 * Returns the bytes of the host that an engine on a card still counts as free: experts, which are mapped from their file,
 * and what the load of another program has not taken yet.
 */
export function reservedOnHost(current: Readonly<EngineRun>, anonymous: number): number {
  const { hostBytes = 0, loaded } = current;
  if (mappedBytes(current) > 0) return hostBytes;
  return loaded === null ? Math.max(0, hostBytes - anonymous) : 0;
}

/** Returns the GPU memory that was allocated since the last reading. */
export function unreportedBytes(current: Readonly<EngineRun>, now: number): number {
  const { readySince, neededBytes } = current;
  if (readySince === null || onCpu(current)) return 0;
  return now - readySince < MAX_VRAM_READING_AGE_MS ? neededBytes : 0;
}

/** Returns the bytes that an engine holds: as its server reports them, otherwise those that it was granted. */
export const heldBytes = ({ running, neededBytes }: Readonly<EngineRun>): number =>
  running.heldBytes?.() ?? neededBytes;

/**
 * Returns the pool of an engine: by the device it runs on, and before it is loaded the pool that admission chose.
 */
export const poolOf = (current: Readonly<EngineRun>): string => (onCpu(current) ? HOST_POOL : current.pool);

function phaseOf(state: SlotStateName): Holder['state'] {
  if (state === 'ready' || state === 'serving') return 'loaded';
  return state === 'draining' || state === 'stopping' ? state : 'loading';
}

/** Converts the memory use of a slot to the input of eviction. */
export function toHolder(use: MemoryUse, { anonymous, reloadMs }: MemoryReadings): Holder {
  const { name, state, pinned, priority, lastUsedAt, current } = use;
  const onHost = poolOf(current) === HOST_POOL && (onCpu(current) || current.loaded === null);
  return {
    name,
    state: phaseOf(state),
    serving: state === 'serving' || state === 'draining',
    pinned,
    priority,
    heldBytes: heldBytes(current),
    freedBytes: onHost ? reservedBytes(current, anonymous) + anonymous : heldBytes(current),
    reloadMs,
    readySince: current.readySince ?? current.startedAt,
    lastUsedAt: Math.max(lastUsedAt, current.readySince ?? 0),
  };
}
