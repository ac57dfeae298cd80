import type { MemorySumView, StayReasonName } from '../../contract/slots.ts';
import { evictableAt, type TimeSliceInput } from './time-slice.ts';

/** Bytes that are left free for everything else on the machine. */
export const KEEP_FREE_BYTES = 512 * 1024 * 1024;
/** A figure that may be stale is checked again after this time. */
const RECHECK_MS = 250;

/** A slot that holds memory of the pool now. */
export interface Holder extends TimeSliceInput {
  readonly name: string;
  /** A `draining` slot still serves requests; the engine of a `stopping` one is ending. */
  readonly state: 'loaded' | 'loading' | 'draining' | 'stopping';
  readonly pinned: boolean;
  /** From the slot file. A slot with a lower priority is evicted first. */
  readonly priority: number;
  /** Bytes that were granted to it. They count against the limit. */
  readonly heldBytes: number;
  /** Bytes by which the free memory grows once its engine has ended. */
  readonly freedBytes: number;
}

/** The input of one admission decision. Sizes are bytes, times are Unix milliseconds. */
export interface MemorySnapshot {
  readonly pool: string;
  readonly needed: number;
  /** Bytes available in the pool. */
  readonly free: number;
  /** Bytes that are promised but still counted in `free`. */
  readonly reserved: number;
  /** Bytes that were freed or taken recently; `free` may not include the change yet. */
  readonly unreported: number;
  /** The maximum that slots may hold in the pool; null without a limit. */
  readonly limit: number | null;
  /** The sum of what earlier waiting loads need, and the slots that they wait for. */
  readonly ahead: number;
  readonly awaited: readonly string[];
  /** The other slots that hold memory of the pool. */
  readonly holders: readonly Holder[];
  readonly waitingSince: number;
  readonly now: number;
  /** False when no caller waits for the load; it then takes free memory only and evicts nothing. */
  readonly isRequested: boolean;
}

export type LoadDecision =
  | { readonly kind: 'start'; readonly sum: MemorySumView }
  | {
      readonly kind: 'wait';
      readonly sum: MemorySumView;
      /** The slots whose engines must end first. */
      readonly for: readonly string[];
      /** Those of them that are to be evicted now. */
      readonly evict: readonly string[];
      /**
       * Unix milliseconds at which the decision may change without an event; null when only an event can change it.
       */
      readonly wakeAt: number | null;
    }
  | { readonly kind: 'refuse'; readonly sum: MemorySumView };

const isLeaving = ({ state }: Holder): boolean => state === 'draining' || state === 'stopping';
const total = (holders: readonly Holder[], bytes: (holder: Holder) => number): number =>
  holders.reduce((sum, holder) => sum + bytes(holder), 0);

/** Returns the missing bytes once the slots in `left` have ended; 0 when the load fits. */
function shortfallWithout(snapshot: MemorySnapshot, left: readonly Holder[], ahead = snapshot.ahead): number {
  const { needed, free, reserved, limit, holders } = snapshot;
  const ofAvailable =
    needed + ahead + reserved + KEEP_FREE_BYTES - free - total(left, ({ freedBytes }) => freedBytes);
  const held = total(holders, ({ heldBytes }) => heldBytes) - total(left, ({ heldBytes }) => heldBytes);
  return Math.max(0, ofAvailable, limit === null ? 0 : needed + ahead + held - limit);
}

/** Like `shortfallWithout`, but assumes that every unreported change is in favour of the load. */
const bestCaseShortfall = (snapshot: MemorySnapshot, left: readonly Holder[], ahead?: number): number =>
  shortfallWithout({ ...snapshot, free: snapshot.free + snapshot.unreported }, left, ahead);

const BUSY_RANK: Readonly<Record<Holder['state'], number>> = {
  loaded: 0,
  loading: 2,
  draining: 0,
  stopping: 0,
};
const rank = (holder: Holder): number => BUSY_RANK[holder.state] + Number(holder.serving);

/**
 * Orders the candidates for eviction: idle ones first, then lower priority, then shorter reload time, then least
 * recently used.
 */
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

/**
 * Returns the smallest and cheapest set of slots to evict, in addition to those that are leaving already; null when
 * no set is enough.
 */
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

/**
 * Returns which victims to evict now. Keeps idle victims loaded until the busy victims have drained, because they
 * can serve requests until then.
 */
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

/**
 * Returns whether the load can take free memory now, without making earlier loads wait for more than they already
 * do.
 */
function fitsNow(snapshot: MemorySnapshot, leaving: readonly Holder[]): boolean {
  // A load that runs elsewhere takes nothing from this pool.
  if (snapshot.needed === 0) return true;
  if (shortfallWithout(snapshot, [], 0) > 0) return false;
  const awaited = snapshot.holders.filter(({ name }) => snapshot.awaited.includes(name));
  return snapshot.ahead === 0 || shortfallWithout(snapshot, [...new Set([...leaving, ...awaited])]) === 0;
}

/**
 * Decides whether a load starts, waits until other slots have ended, or is refused because it would not fit even if
 * every evictable slot had ended. Evicting a serving slot means draining it: no request is cut. Pure.
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
  // A pinned slot that is already leaving, because an admin unloads it or its file was deleted, frees memory like
  // any other.
  const evictable = snapshot.holders.filter((holder) => !holder.pinned || isLeaving(holder));
  if (!snapshot.isRequested || bestCaseShortfall(snapshot, evictable, 0) > 0) return { kind: 'refuse', sum };
  const chosen = chooseVictims(snapshot, leaving);
  if (chosen === null) return { kind: 'wait', sum, for: names(evictable), evict: [], wakeAt: null };
  return { kind: 'wait', sum, for: names([...leaving, ...chosen]), ...evictNow(snapshot, leaving, chosen) };
}
