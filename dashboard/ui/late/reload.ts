const KEY = 'svc.reload';
/** A page is loaded again by itself at most once in this time. */
const ONCE_MS = 60_000;

/** `updated`: the gateway serves a newer dashboard; `missing`: a part of this one did not come. */
export type ReloadReason = 'updated' | 'missing';

interface Kept {
  at: number;
  reason: ReloadReason;
  /** Whether somebody was told why. */
  told: boolean;
}

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>;

function read(storage: Storage): Kept | null {
  try {
    const kept = JSON.parse(storage.getItem(KEY) ?? 'null') as Partial<Kept> | null;
    if (typeof kept?.at !== 'number' || (kept.reason !== 'updated' && kept.reason !== 'missing')) return null;
    return { at: kept.at, reason: kept.reason, told: kept.told === true };
  } catch {
    return null;
  }
}

function write(storage: Storage, kept: Kept): boolean {
  try {
    storage.setItem(KEY, JSON.stringify(kept));
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether the page may be loaded again by itself, which is then noted: never twice within a minute, nor where nothing
 * can be kept, so that it ends. A clock that was set back does not count as "just now".
 */
export function mayReload(storage: Storage, reason: ReloadReason, now: number): boolean {
  const last = read(storage);
  if (last !== null && now >= last.at && now - last.at < ONCE_MS) return false;
  return write(storage, { at: now, reason, told: false });
}

/** Why the page was loaded again, told once; null when it was not, or long ago. */
export function reasonOnce(storage: Storage, now: number): ReloadReason | null {
  const last = read(storage);
  if (last === null || last.told) return null;
  write(storage, { ...last, told: true });
  return now - last.at < ONCE_MS ? last.reason : null;
}

/** Somebody asks by hand: the page may be loaded again at once. */
export function forgetReload(storage: Storage): void {
  try {
    storage.removeItem(KEY);
  } catch {
    // Nothing is kept there anyway.
  }
}
