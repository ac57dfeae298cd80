import { clampRows } from './columns.ts';
import type { Db } from './connection.ts';
import type { WriteHealth } from './write-health.ts';

/** A memory with its sequence number, which increases with each new memory. */
export interface PendingMemory {
  readonly seq: number;
  readonly text: string;
}

export interface VectorRow {
  readonly seq: number;
  readonly id: string;
  /** Little-endian float32. */
  readonly vector: Buffer;
}

/**
 * One vector per memory, with the model that produced it. Every call throws `store.unavailable` when the
 * database fails.
 */
export interface MemoryVectors {
  /** Returns memories after `seq` without a vector of this model, oldest first. */
  pending(model: string, after: number, limit: number): PendingMemory[];
  /**
   * Replaces the vectors of memories. An empty vector marks that the model cannot produce one. Ignores
   * removed memories.
   */
  put(model: string, rows: readonly { seq: number; vector: Buffer }[]): void;
  /** Returns vectors of this model after `seq`, oldest first. */
  page(model: string, after: number, limit: number): VectorRow[];
}

const MAX_PAGE = 1_000;

export function memoryVectors(db: Db, faults: WriteHealth): MemoryVectors {
  const pending = db.prepare<[string, number, number], PendingMemory>(
    `SELECT m.seq, m.text FROM memories m
     LEFT JOIN memory_vectors v ON v.seq = m.seq AND v.model = ?
     WHERE m.seq > ? AND v.seq IS NULL ORDER BY m.seq LIMIT ?`,
  );
  const put = db.prepare<[string, Buffer, number]>(
    `INSERT INTO memory_vectors (seq, model, vector)
     SELECT seq, ?, ? FROM memories WHERE seq = ?
     ON CONFLICT (seq) DO UPDATE SET model = excluded.model, vector = excluded.vector`,
  );
  const page = db.prepare<[string, number, number], VectorRow>(
    `SELECT v.seq, m.id, v.vector FROM memory_vectors v JOIN memories m ON m.seq = v.seq
     WHERE v.model = ? AND v.seq > ? AND length(v.vector) > 0 ORDER BY v.seq LIMIT ?`,
  );
  const putAll = db.transaction((model: string, rows: readonly { seq: number; vector: Buffer }[]) => {
    for (const { seq, vector } of rows) put.run(model, vector, seq);
  });
  return {
    pending: (model, after, limit) =>
      faults.read('memory', () => pending.all(model, after, clampRows(limit, MAX_PAGE))),
    put: (model, rows) => faults.write('memory', () => putAll.immediate(model, rows)),
    page: (model, after, limit) =>
      faults.read('memory', () => page.all(model, after, clampRows(limit, MAX_PAGE))),
  };
}
