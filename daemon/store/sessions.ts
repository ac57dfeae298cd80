import type { Db } from './connection.ts';
import type { WriteHealth } from './write-health.ts';
import { WriteQueue } from './write-queue.ts';

export interface StoredSession {
  id: string;
  /** Unix seconds. */
  created_at: number;
  /** Unix seconds. */
  expires_at: number;
}

/** Sessions and the list of revoked ones (docs/spec/contract.md#sessions). All times in Unix seconds. */
export interface SessionsRepo {
  create(id: string, createdS: number, expiresS: number): void;
  /** Takes effect in this process at once, even if the write fails, which is then retried. */
  revoke(id: string, expiresS: number): void;
  /** Reads from memory in constant time. Never fails. */
  isRevoked(id: string): boolean;
  /** Returns sessions that are neither expired nor revoked, newest first. Throws `store.unavailable`. */
  active(nowS: number): StoredSession[];
  /** Removes all sessions. For a new signing secret, which ends every session on its own. */
  clear(): void;
  /**
   * Removes expired sessions beyond the newest 10,000. Those are retained regardless of age, because a clock
   * that jumps ahead and back would make revoked sessions valid again.
   */
  prune(nowS: number): void;
}

const MAX_EXPIRED = 10_000;
/** Maximum revocations in memory. Above it, the first to expire is removed. */
const MAX_REVOKED = 100_000;
const MAX_LISTED = 1_000;

/** Removes entries, earliest expiry first, that are expired beyond `keepCount`, or that exceed `maxCount`. */
export function pruneRevoked(
  revoked: Map<string, number>,
  nowS: number,
  keepCount: number,
  maxCount: number,
): void {
  if (revoked.size <= keepCount) return;
  const byExpiry = [...revoked].sort((a, b) => a[1] - b[1]);
  for (const [id, expiresS] of byExpiry) {
    if (revoked.size <= keepCount || (expiresS > nowS && revoked.size <= maxCount)) return;
    revoked.delete(id);
  }
}

function statements(db: Db) {
  return {
    create: db.prepare(
      'INSERT INTO sessions (id, created_at, expires_at) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING',
    ),
    revoke: db.prepare(
      'INSERT INTO sessions (id, created_at, expires_at, revoked) VALUES (?, 0, ?, 1) ON CONFLICT (id) DO UPDATE SET revoked = 1',
    ),
    revoked: db.prepare<[number], { id: string; expires_at: number }>(
      'SELECT id, expires_at FROM sessions WHERE revoked = 1 ORDER BY expires_at DESC LIMIT ?',
    ),
    active: db.prepare<[number, number], StoredSession>(
      `SELECT id, created_at, expires_at FROM sessions WHERE revoked = 0 AND expires_at > ?
       ORDER BY created_at DESC, id LIMIT ?`,
    ),
    clear: db.prepare('DELETE FROM sessions'),
    prune: db.prepare(
      `DELETE FROM sessions WHERE id IN (
         SELECT id FROM sessions WHERE expires_at <= ? ORDER BY expires_at DESC LIMIT -1 OFFSET ${MAX_EXPIRED})`,
    ),
  };
}

/** A queued write. */
type Write = () => void;

/**
 * Reads the revoked ids once, at the start. After that memory is authoritative and the table is updated from
 * it.
 */
export function sessionsRepo(
  db: Db,
  faults: WriteHealth,
): { repo: SessionsRepo; backlog: WriteQueue<Write> } {
  const sql = statements(db);
  const revoked = new Map(sql.revoked.all(MAX_REVOKED).map(({ id, expires_at }) => [id, expires_at]));
  const write = db.transaction((writes: readonly Write[]) => {
    for (const each of writes) each();
  });
  const backlog = new WriteQueue<Write>({ faults, what: 'sessions', limit: 10_000, batch: 500, write });
  const enqueue = (each: Write): void => {
    backlog.push(each);
    backlog.flush();
  };
  const repo: SessionsRepo = {
    create: (id, createdS, expiresS) => enqueue(() => sql.create.run(id, createdS, expiresS)),
    revoke(id, expiresS) {
      revoked.set(id, expiresS);
      pruneRevoked(revoked, 0, MAX_REVOKED, MAX_REVOKED);
      enqueue(() => sql.revoke.run(id, expiresS));
    },
    isRevoked: (id) => revoked.has(id),
    active: (nowS) =>
      faults.read('sessions', () => sql.active.all(nowS, MAX_LISTED)).filter(({ id }) => !revoked.has(id)),
    clear() {
      revoked.clear();
      enqueue(() => sql.clear.run());
    },
    prune(nowS) {
      pruneRevoked(revoked, nowS, MAX_EXPIRED, MAX_REVOKED);
      enqueue(() => sql.prune.run(nowS));
    },
  };
  return { repo, backlog };
}
