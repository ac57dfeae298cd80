import type { MemorySumView, StayReasonName } from '../../contract/slots.ts';
import { evictableAt, type TimeSliceInput } from './time-slice.ts';

/** Memory that is left to everything else on the machine. */
export const KEEP_FREE_BYTES = 512 * 1024 * 1024;
/** A figure that may be old is looked at again after this long. */
const RECHECK_MS = 250;

/** A slot that holds memory of the pool now. */
export interface Holder extends TimeSliceInput {
  readonly name: string;
  /** `draining` still answers, `stopping` is about to be gone. */
  readonly state: 'loaded' | 'loading' | 'draining' | 'stopping';
  readonly pinned: boolean;
  /** Setting of its slot file: a lower one leaves first. */
  readonly priority: number;
  /** Bytes that it was granted; they count against the limit. */
  readonly heldBytes: number;
  /** Bytes by which the free memory grows when it has left. */
  readonly freedBytes: number;
}

/** What one load is decided on. Bytes, and Unix milliseconds. */
export interface MemorySnapshot {
  readonly pool: string;
  readonly needed: number;
  /** Available in the pool. */
  readonly free: number;
  /** Promised, yet still counted in `free`. */
  readonly reserved: number;
  /** Freed or taken a moment ago; `free` may not tell yet. */
  readonly unreported: number;
  /** Most that slots may hold in the pool; null without a limit. */
  readonly limit: number | null;
  /** Needs of the loads that were there first and still wait, and the slots that they wait for. */
  readonly ahead: number;
  readonly awaited: readonly string[];
  /** The other slots of the pool. */
  readonly holders: readonly Holder[];
  readonly waitingSince: number;
  readonly now: number;
  /** False: nobody waits for it, so it takes free memory only. */
  readonly isRequested: boolean;
}

export type LoadDecision =
  | { readonly kind: 'start'; readonly sum: MemorySumView }
  | {
      readonly kind: 'wait';
      readonly sum: MemorySumView;
      /** Slots that must have left first. */
      readonly for: readonly string[];
      /** Those of them that have to go now. */
      readonly evict: readonly string[];
      /** Unix milliseconds at which time alone may change the decision; null: only events do. */
      readonly wakeAt: number | null;
    }
  | { readonly kind: 'refuse'; readonly sum: MemorySumView };

const isLeaving = ({ state }: Holder): boolean => state === 'draining' || state === 'stopping';
const total = (holders: readonly Holder[], bytes: (holder: Holder) => number): number =>
  holders.reduce((sum, holder) => sum + bytes(holder), 0);

/** What is missing once `gone` have left, in bytes; 0 when it fits. */
function shortfallWithout(snapshot: MemorySnapshot, left: readonly Holder[], ahead = snapshot.ahead): number {
  const { needed, free, reserved, limit, holders } = snapshot;
  const ofAvailable =
    needed + ahead + reserved + KEEP_FREE_BYTES - free - total(left, ({ freedBytes }) => freedBytes);
  const held = total(holders, ({ heldBytes }) => heldBytes) - total(left, ({ heldBytes }) => heldBytes);
  return Math.max(0, ofAvailable, limit === null ? 0 : needed + ahead + held - limit);
}

/** The same as if every figure had settled in our favour. */
const bestCaseShortfall = (snapshot: MemorySnapshot, left: readonly Holder[], ahead?: number): number =>
  shortfallWithout({ ...snapshot, free: snapshot.free + snapshot.unreported }, left, ahead);

const BUSY_RANK: Readonly<Record<Holder['state'], number>> = {
  loaded: 0,
  loading: 2,
  draining: 0,
  stopping: 0,
};
const rank = (holder: Holder): number => BUSY_RANK[holder.state] + Number(holder.serving);

/** Who leaves first: idle ones, then lower priority, then the cheapest to load again, then the least recently used. */
const evictionOrder = (a: Holder, b: Holder): number =>
  rank(a) - rank(b) || a.priority - b.priority || a.reloadMs - b.reloadMs || a.lastUsedAt - b.lastUsedAt;

function stayReason(holder: Holder, { now, waitingSince }: MemorySnapshot): StayReasonName | null {
  if (isLeaving(holder)) return null;
  if (holder.pinned) return 'pinned';
  if (holder.state === 'loading') return 'loading';
  if (holder.serving) return 'serving';
  return evictableAt(holder, waitingSince) > now ? 'turn' : null;
}

/**
 * Returns the whole sum of a load, with every other slot of the pool as a candidate for eviction
 * (docs/spec/contract.md#admission).
 */
export function memorySum(snapshot: MemorySnapshot): MemorySumView {
  const { pool, needed, free, reserved, ahead, limit, holders } = snapshot;
  return {
    pool,
    needed,
    free,
    reserved: reserved + ahead,
    kept_free: KEEP_FREE_BYTES,
    limit,
    held: total(holders, ({ heldBytes }) => heldBytes),
    short: shortfallWithout(snapshot, []),
    victims: [...holders].sort(evictionOrder).map((holder) => ({
      slot: holder.name,
      bytes: holder.freedBytes,
      stays: stayReason(holder, snapshot),
    })),
  };
}

/** The fewest and cheapest whose leaving makes room beside those that leave already; null when no choice does. */
function chooseVictims(snapshot: MemorySnapshot, leaving: readonly Holder[]): Holder[] | null {
  const evictable = snapshot.holders
    .filter((holder) => !holder.pinned && !isLeaving(holder))
    .sort(evictionOrder);
  const enough = (chosen: readonly Holder[]) => bestCaseShortfall(snapshot, [...leaving, ...chosen]) === 0;
  const count = evictable.findIndex((_, index) => enough(evictable.slice(0, index + 1))) + 1;
  if (count === 0) return null;
  const chosen = evictable.slice(0, count);
  for (const costly of chosen.toReversed()) {
    const without = chosen.filter((one) => one !== costly);
    if (enough(without)) chosen.splice(chosen.indexOf(costly), 1);
  }
  return chosen;
}

/** Idle victims go only when no busy one is still to be waited for: until then they can be of use. */
function evictNow(snapshot: MemorySnapshot, leaving: readonly Holder[], chosen: readonly Holder[]) {
  const due = (holder: Holder) =>
    holder.state === 'loading' ? Number.POSITIVE_INFINITY : evictableAt(holder, snapshot.waitingSince);
  const busy = chosen.filter((holder) => rank(holder) > 0);
  const wait = busy.length > 0 || leaving.some(({ state }) => state === 'draining');
  const next = wait ? busy : chosen;
  const evict = next.filter((holder) => due(holder) <= snapshot.now);
  const later = next.map(due).filter((at) => at > snapshot.now && at < Number.POSITIVE_INFINITY);
  return { evict: evict.map(({ name }) => name), wakeAt: later.length === 0 ? null : Math.min(...later) };
}

/** Free memory is taken at once, unless those who were there first would then have to wait for more than they do. */
function fitsNow(snapshot: MemorySnapshot, leaving: readonly Holder[]): boolean {
  // What runs elsewhere takes nothing here.
  if (snapshot.needed === 0) return true;
  if (shortfallWithout(snapshot, [], 0) > 0) return false;
  const awaited = snapshot.holders.filter(({ name }) => snapshot.awaited.includes(name));
  return snapshot.ahead === 0 || shortfallWithout(snapshot, [...new Set([...leaving, ...awaited])]) === 0;
}

/**
 * Decides on one load: it starts, it waits until others have left, or it is refused because it would not fit even if
 * everything that may leave had left. A serving slot is never cut: to evict it means to let it drain. Pure.
 */
export function decideLoad(snapshot: MemorySnapshot): LoadDecision {
  const sum = memorySum(snapshot);
  const leaving = snapshot.holders.filter(isLeaving);
  if (fitsNow(snapshot, leaving)) return { kind: 'start', sum };
  const names = (holders: readonly Holder[]) => holders.map(({ name }) => name);
  const fitsAfterLeaving = bestCaseShortfall(snapshot, leaving) === 0;
  if (fitsAfterLeaving) {
    const wakeAt = snapshot.unreported > 0 ? snapshot.now + RECHECK_MS : null;
    return { kind: 'wait', sum, for: names(leaving), evict: [], wakeAt };
  }
  // A pinned slot that leaves all the same, because an admin unloads it or its file is gone, makes room like any other.
  const leavable = snapshot.holders.filter((holder) => !holder.pinned || isLeaving(holder));
  if (!snapshot.isRequested || bestCaseShortfall(snapshot, leavable, 0) > 0) return { kind: 'refuse', sum };
  const chosen = chooseVictims(snapshot, leaving);
  if (chosen === null) return { kind: 'wait', sum, for: names(leavable), evict: [], wakeAt: null };
  return { kind: 'wait', sum, for: names([...leaving, ...chosen]), ...evictNow(snapshot, leaving, chosen) };
}
