const KEY = 'svc.reload';
/** Minimum time between automatic reloads. */
const ONCE_MS = 60_000;

/** `updated`: the gateway serves a newer dashboard; `missing`: a part could not be loaded. */
export type ReloadReason = 'updated' | 'missing';

interface Kept {
  at: number;
  reason: ReloadReason;
  /** Whether the reason was shown. */
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
 * Whether the page may reload automatically; records the reload. Never allows it twice within a minute or without storage,
 * so that reloads cannot loop. A clock that was set back does not block it.
 */
export function mayReload(storage: Storage, reason: ReloadReason, now: number): boolean {
  const last = read(storage);
  if (last !== null && now >= last.at && now - last.at < ONCE_MS) return false;
  return write(storage, { at: now, reason, told: false });
}

/** The reason of a recent reload, returned once; null otherwise. */
export function reasonOnce(storage: Storage, now: number): ReloadReason | null {
  const last = read(storage);
  if (last === null || last.told) return null;
  write(storage, { ...last, told: true });
  return now - last.at < ONCE_MS ? last.reason : null;
}

/** Allows an immediate reload after a request of the user. */
export function forgetReload(storage: Storage): void {
  try {
    storage.removeItem(KEY);
  } catch {
    // Storage is disabled.
  }
}
