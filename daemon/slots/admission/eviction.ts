import type { MemorySumView, StayReasonName } from '../../contract/slots.ts';
import { dueAt, type TurnFacts } from './time-slice.ts';

/** Memory that is left to everything else on the machine. */
export const KEEP_FREE_BYTES = 512 * 1024 * 1024;
/** A figure that may be old is looked at again after this long. */
const AGAIN_MS = 250;

/** A slot that holds memory of the pool now. */
export interface Holder extends TurnFacts {
  readonly name: string;
  /** `draining` still answers, `stopping` is about to be gone. */
  readonly state: 'loaded' | 'loading' | 'draining' | 'stopping';
  readonly pinned: boolean;
  /** Setting of its slot file: a lower one leaves first. */
  readonly priority: number;
  /** Bytes that it was granted; they count against the limit. */
  readonly holds: number;
  /** Bytes by which the free memory grows when it has left. */
  readonly frees: number;
}

/** What one load is decided on. Bytes, and Unix milliseconds. */
export interface MemoryPicture {
  readonly pool: string;
  readonly needed: number;
  /** Available in the pool. */
  readonly free: number;
  /** Promised, yet still counted in `free`. */
  readonly reserved: number;
  /** Freed or taken a moment ago; `free` may not tell yet. */
  readonly settling: number;
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
  readonly asked: boolean;
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
function shortWithout(picture: MemoryPicture, gone: readonly Holder[], ahead = picture.ahead): number {
  const { needed, free, reserved, limit, holders } = picture;
  const ofFree = needed + ahead + reserved + KEEP_FREE_BYTES - free - total(gone, ({ frees }) => frees);
  const held = total(holders, ({ holds }) => holds) - total(gone, ({ holds }) => holds);
  return Math.max(0, ofFree, limit === null ? 0 : needed + ahead + held - limit);
}

/** The same as if every figure had settled in our favour. */
const shortAtBest = (picture: MemoryPicture, gone: readonly Holder[], ahead?: number): number =>
  shortWithout({ ...picture, free: picture.free + picture.settling }, gone, ahead);

const BUSY: Readonly<Record<Holder['state'], number>> = { loaded: 0, loading: 2, draining: 0, stopping: 0 };
const rank = (holder: Holder): number => BUSY[holder.state] + Number(holder.serving);

/** Who leaves first: idle ones, then lower priority, then the cheapest to load again, then the least recently used. */
const firstToLeave = (a: Holder, b: Holder): number =>
  rank(a) - rank(b) || a.priority - b.priority || a.reloadMs - b.reloadMs || a.usedAt - b.usedAt;

function stays(holder: Holder, { now, waitingSince }: MemoryPicture): StayReasonName | null {
  if (isLeaving(holder)) return null;
  if (holder.pinned) return 'pinned';
  if (holder.state === 'loading') return 'loading';
  if (holder.serving) return 'serving';
  return dueAt(holder, waitingSince) > now ? 'turn' : null;
}

/**
 * Returns the whole sum of a load, with every other slot of the pool as a candidate for eviction
 * (docs/spec/contract.md#admission).
 */
export function memorySum(picture: MemoryPicture): MemorySumView {
  const { pool, needed, free, reserved, ahead, limit, holders } = picture;
  return {
    pool,
    needed,
    free,
    reserved: reserved + ahead,
    kept_free: KEEP_FREE_BYTES,
    limit,
    held: total(holders, ({ holds }) => holds),
    short: shortWithout(picture, []),
    victims: [...holders].sort(firstToLeave).map((holder) => ({
      slot: holder.name,
      bytes: holder.frees,
      stays: stays(holder, picture),
    })),
  };
}

/** The fewest and cheapest whose leaving makes room beside those that leave already; null when no choice does. */
function chooseVictims(picture: MemoryPicture, leaving: readonly Holder[]): Holder[] | null {
  const able = picture.holders.filter((holder) => !holder.pinned && !isLeaving(holder)).sort(firstToLeave);
  const enough = (chosen: readonly Holder[]) => shortAtBest(picture, [...leaving, ...chosen]) === 0;
  const count = able.findIndex((_, index) => enough(able.slice(0, index + 1))) + 1;
  if (count === 0) return null;
  const chosen = able.slice(0, count);
  for (const dear of chosen.toReversed()) {
    const without = chosen.filter((one) => one !== dear);
    if (enough(without)) chosen.splice(chosen.indexOf(dear), 1);
  }
  return chosen;
}

/** Idle victims go only when no busy one is still to be waited for: until then they can be of use. */
function whoGoesNow(picture: MemoryPicture, leaving: readonly Holder[], chosen: readonly Holder[]) {
  const due = (holder: Holder) =>
    holder.state === 'loading' ? Number.POSITIVE_INFINITY : dueAt(holder, picture.waitingSince);
  const busy = chosen.filter((holder) => rank(holder) > 0);
  const wait = busy.length > 0 || leaving.some(({ state }) => state === 'draining');
  const next = wait ? busy : chosen;
  const evict = next.filter((holder) => due(holder) <= picture.now);
  const later = next.map(due).filter((at) => at > picture.now && at < Number.POSITIVE_INFINITY);
  return { evict: evict.map(({ name }) => name), wakeAt: later.length === 0 ? null : Math.min(...later) };
}

/** Free memory is taken at once, unless those who were there first would then have to wait for more than they do. */
function fitsNow(picture: MemoryPicture, leaving: readonly Holder[]): boolean {
  // What runs elsewhere takes nothing here.
  if (picture.needed === 0) return true;
  if (shortWithout(picture, [], 0) > 0) return false;
  const awaited = picture.holders.filter(({ name }) => picture.awaited.includes(name));
  return picture.ahead === 0 || shortWithout(picture, [...new Set([...leaving, ...awaited])]) === 0;
}

/**
 * Decides on one load: it starts, it waits until others have left, or it is refused because it would not fit even if
 * everything that may leave had left. A serving slot is never cut: to evict it means to let it drain. Pure.
 */
export function decideLoad(picture: MemoryPicture): LoadDecision {
  const sum = memorySum(picture);
  const leaving = picture.holders.filter(isLeaving);
  if (fitsNow(picture, leaving)) return { kind: 'start', sum };
  const names = (holders: readonly Holder[]) => holders.map(({ name }) => name);
  const willDo = shortAtBest(picture, leaving) === 0;
  if (willDo) {
    const wakeAt = picture.settling > 0 ? picture.now + AGAIN_MS : null;
    return { kind: 'wait', sum, for: names(leaving), evict: [], wakeAt };
  }
  // A pinned slot that leaves all the same, because an admin unloads it or its file is gone, makes room like any other.
  const leavable = picture.holders.filter((holder) => !holder.pinned || isLeaving(holder));
  if (!picture.asked || shortAtBest(picture, leavable, 0) > 0) return { kind: 'refuse', sum };
  const chosen = chooseVictims(picture, leaving);
  if (chosen === null) return { kind: 'wait', sum, for: names(leavable), evict: [], wakeAt: null };
  return { kind: 'wait', sum, for: names([...leaving, ...chosen]), ...whoGoesNow(picture, leaving, chosen) };
}
