import type { AuditRow } from '../contract/system.ts';
import { clampRows, clip, fromJson, toJson } from './columns.ts';
import type { Db } from './connection.ts';
import type { WriteHealth } from './write-health.ts';
import { WriteQueue } from './write-queue.ts';

export interface AuditEvent {
  action: string;
  tier: string | null;
  address: string | null;
  /** Must not contain secrets. At most 64 KiB as JSON. */
  details: Record<string, unknown>;
}

export interface AuditRepo {
  /**
   * Writes the event before it returns. If that fails, the row waits in memory (at most 1,000) and is
   * retried. Never throws.
   */
  add(event: AuditEvent): void;
  /** Returns events newest first, at most 1,000, older than `beforeId` if given. Throws `store.unavailable`. */
  list(limit: number, beforeId?: number): AuditRow[];
}

const MAX_ROWS = 50_000;
const MAX_QUEUED = 1_000;
const MAX_LISTED = 1_000;
/** Old rows are deleted once per this many added ones. */
const TRIM_EVERY = 256;

type Row = [at: string, action: string, tier: string | null, address: string | null, details: string];
type Stored = Omit<AuditRow, 'details'> & { details: string };

/** The audit trail: who changed what. Retains the newest 50,000 events. */
export function auditRepo(
  db: Db,
  faults: WriteHealth,
  now: () => number,
): { repo: AuditRepo; backlog: WriteQueue<Row> } {
  const insert = db.prepare('INSERT INTO audit (at, action, tier, address, details) VALUES (?, ?, ?, ?, ?)');
  const trim = db.prepare('DELETE FROM audit WHERE id <= ?');
  const list = db.prepare<[number, number], Stored>(
    'SELECT * FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?',
  );
  const write = db.transaction((rows: readonly Row[]) => {
    for (const row of rows) {
      const id = Number(insert.run(...row).lastInsertRowid);
      if (id % TRIM_EVERY === 0) trim.run(id - MAX_ROWS);
    }
  });
  const backlog = new WriteQueue<Row>({ faults, what: 'audit', limit: MAX_QUEUED, batch: MAX_QUEUED, write });
  const repo: AuditRepo = {
    add({ action, tier, address, details }) {
      backlog.push([new Date(now()).toISOString(), action, tier, clip(address), toJson(details)]);
      backlog.flush();
    },
    list(limit, beforeId = Number.MAX_SAFE_INTEGER) {
      const rows = faults.read('audit', () => list.all(beforeId, clampRows(limit, MAX_LISTED)));
      return rows.map((row) => ({ ...row, details: fromJson<Record<string, unknown>>(row.details, {}) }));
    },
  };
  return { repo, backlog };
}
