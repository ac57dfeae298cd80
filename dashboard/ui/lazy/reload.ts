const KEY = 'svc.reload';
/** Minimum time between automatic reloads. */
const ONCE_MS = 60_000;

/** `updated`: the gateway serves a newer dashboard; `missing`: a part could not be loaded. */
export type ReloadReason = 'updated' | 'missing';

interface ReloadRecord {
  at: number;
  reason: ReloadReason;
  /** Whether the reason was shown. */
  shown: boolean;
}

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>;

function read(storage: Storage): ReloadRecord | null {
  try {
    const record = JSON.parse(storage.getItem(KEY) ?? 'null') as Partial<ReloadRecord> | null;
    if (typeof record?.at !== 'number' || (record.reason !== 'updated' && record.reason !== 'missing'))
      return null;
    return { at: record.at, reason: record.reason, shown: record.shown === true };
  } catch {
    return null;
  }
}

function write(storage: Storage, record: ReloadRecord): boolean {
  try {
    storage.setItem(KEY, JSON.stringify(record));
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
  return write(storage, { at: now, reason, shown: false });
}

/** The reason of a recent reload, returned once; null otherwise. */
export function takeReloadReason(storage: Storage, now: number): ReloadReason | null {
  const last = read(storage);
  if (last === null || last.shown) return null;
  write(storage, { ...last, shown: true });
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
