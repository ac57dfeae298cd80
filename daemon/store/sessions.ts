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
  /** In force at once in this process, even when the write fails; written again later. */
  revoke(id: string, expiresS: number): void;
  /** From memory, in constant time; never fails. */
  isRevoked(id: string): boolean;
  /** Neither expired nor revoked, newest first; throws `store.unavailable`. */
  active(nowS: number): StoredSession[];
  /** Forgets all: for a new signing secret, which ends every session by itself. */
  clear(): void;
  /**
   * Forgets expired sessions beyond the newest 10,000. Those stay however old they look, because a clock that jumps ahead
   * and returns would bring revoked sessions back.
   */
  prune(nowS: number): void;
}

const MAX_EXPIRED = 10_000;
/** Revocations held in memory at most; beyond it the first to expire goes. */
const MAX_REVOKED = 100_000;
const MAX_LISTED = 1_000;

/** Removes entries, earliest expiry first, that are expired beyond `kept`, or that exceed `most`. */
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

/** A write that waits its turn. */
type Write = () => void;

/** The revoked ids are read once, at the start; after that memory leads and the table follows. */
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
