import type { SlotStateName } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { EngineRun } from '../lifecycle/controller-deps.ts';
import type { Traffic } from '../lifecycle/traffic.ts';
import type { Holder } from './eviction.ts';

/** Pool of everything that lives in the machine's own memory. */
export const HOST_POOL = 'host';

/** What an owner tells of the memory of its engine. */
export interface MemoryUse {
  readonly name: string;
  readonly state: SlotStateName;
  readonly pinned: boolean;
  readonly priority: number;
  /** Unix milliseconds at which its last request began or ended. */
  readonly lastUsedAt: number;
  readonly current: Readonly<EngineRun>;
}

/** What a slot holds; null when it has no engine. */
export function memoryUseOf(
  { name, pinned, priority }: SlotConfig,
  state: SlotStateName,
  { lastUsedAt }: Pick<Traffic, 'lastUsedAt'>,
  current: Readonly<EngineRun> | null,
): MemoryUse | null {
  return current && { name, state, pinned, priority, lastUsedAt: lastUsedAt, current };
}

/** What is read from outside for one engine. */
export interface MemoryReadings {
  /** Memory of the engine's process that no file backs, in bytes. */
  readonly anonymous: number;
  /** Milliseconds that loading it again would take. */
  readonly reloadMs: number;
}

/** Figures of cards and graphics may be this old. */
export const MAX_VRAM_READING_AGE_MS = 6_000;

/** An engine of somebody else may not tell what it runs on; on the machine's memory it counts as on the CPU. */
export const onCpu = ({ loaded, pool }: Readonly<EngineRun>): boolean =>
  loaded?.device === 'cpu' || (loaded?.device === 'auto' && pool === HOST_POOL);

/**
 * Bytes of an engine that the free memory still counts as free: what a load under way has not taken yet, and the weights
 * of a running one that are mapped from their file, which the kernel would give away.
 */
export function reservedBytes(current: Readonly<EngineRun>, anonymous: number): number {
  const outstanding = Math.max(0, current.neededBytes - anonymous);
  if (current.loaded === null) return current.pool === HOST_POOL ? outstanding : current.neededBytes;
  return onCpu(current) ? Math.min(outstanding, current.weightBytes) : 0;
}

/** Bytes of an engine off the processor that figures of cards and graphics may not show yet. */
export function unreportedBytes(current: Readonly<EngineRun>, now: number): number {
  const { readySince, neededBytes } = current;
  if (readySince === null || onCpu(current)) return 0;
  return now - readySince < MAX_VRAM_READING_AGE_MS ? neededBytes : 0;
}

/** The pool that an engine takes from: what it runs on decides, and before that what admission expected. */
export const poolOf = (current: Readonly<EngineRun>): string => (onCpu(current) ? HOST_POOL : current.pool);

function phaseOf(state: SlotStateName): Holder['state'] {
  if (state === 'ready' || state === 'serving') return 'loaded';
  return state === 'draining' || state === 'stopping' ? state : 'loading';
}

/** A slot as eviction sees it. */
export function toHolder(use: MemoryUse, { anonymous, reloadMs }: MemoryReadings): Holder {
  const { name, state, pinned, priority, lastUsedAt, current } = use;
  const onHost = poolOf(current) === HOST_POOL && (onCpu(current) || current.loaded === null);
  return {
    name,
    state: phaseOf(state),
    serving: state === 'serving' || state === 'draining',
    pinned,
    priority,
    heldBytes: current.neededBytes,
    freedBytes: onHost ? reservedBytes(current, anonymous) + anonymous : current.neededBytes,
    reloadMs,
    readySince: current.readySince ?? current.startedAt,
    lastUsedAt: Math.max(lastUsedAt, current.readySince ?? 0),
  };
}
