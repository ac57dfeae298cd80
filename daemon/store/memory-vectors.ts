import { clampRows } from './columns.ts';
import type { Db } from './connection.ts';
import type { WriteHealth } from './write-health.ts';

/** A memory by its number, which counts up as memories are added. */
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

/** One vector for each memory, with the model that made it. Every call throws `store.unavailable` when the database fails. */
export interface MemoryVectors {
  /** Memories after `seq` that have no vector of this model, oldest first. */
  pending(model: string, after: number, limit: number): PendingMemory[];
  /** Replaces the vector of a memory; an empty one says that this model can make none. Nothing for one that is gone. */
  put(model: string, rows: readonly { seq: number; vector: Buffer }[]): void;
  /** Vectors of this model after `seq`, oldest first. */
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
