import { randomUUID } from 'node:crypto';
import { GatewayError } from '../contract/errors.ts';
import type { MemoryRecord } from '../contract/system.ts';
import { clampRows, fromJson, toJson } from './columns.ts';
import type { Db } from './connection.ts';
import { searchExpression, separateUnspaced } from './memory-query.ts';
import { type MemoryVectors, memoryVectors } from './memory-vectors.ts';
import type { WriteHealth } from './write-health.ts';

/** Stored texts with their search index. Every call throws `store.unavailable` when the database fails. */
export interface MemoryRepo {
  /** Stores at most 32 tags of 256 characters each. Throws `memory.full` above 10,000 memories. */
  add(text: string, tags: readonly string[]): MemoryRecord;
  /** Returns the best matches first (a higher `score` is better), at most 100. Any text is a valid query. */
  search(query: string, limit: number): MemoryRecord[];
  /** Newest first, at most 1,000. */
  list(limit: number, offset: number): MemoryRecord[];
  get(id: string): MemoryRecord | null;
  remove(id: string): boolean;
  /** Returns the number of removed memories. */
  removeMany(ids: readonly string[]): number;
  removeAll(): number;
  /** The embedding vectors of the texts. They are removed with their memories. */
  readonly vectors: MemoryVectors;
}

const MAX_FOUND = 100;
const MAX_LISTED = 1_000;
const MAX_MEMORIES = 10_000;
const MAX_TAGS = 32;
const MAX_TAG_LENGTH = 256;

interface Stored {
  seq: number;
  id: string;
  text: string;
  tags: string;
  created_at: string;
  score?: number;
}

function fromStored({ seq: _, ...row }: Stored): MemoryRecord {
  return { ...row, tags: fromJson<string[]>(row.tags, []) };
}

function statements(db: Db) {
  return {
    insert: db.prepare('INSERT INTO memories (id, text, tags, created_at) VALUES (?, ?, ?, ?)'),
    index: db.prepare('INSERT INTO memory_words (rowid, text, tags) VALUES (?, ?, ?)'),
    // bm25 is negative and a lower value is better. A word in a tag counts double.
    search: db.prepare<[string, number], Stored>(
      `SELECT m.*, -bm25(memory_words, 1.0, 2.0) AS score FROM memory_words
       JOIN memories m ON m.seq = memory_words.rowid
       WHERE memory_words MATCH ? ORDER BY score DESC, m.seq DESC LIMIT ?`,
    ),
    list: db.prepare<[number, number], Stored>('SELECT * FROM memories ORDER BY seq DESC LIMIT ? OFFSET ?'),
    get: db.prepare<[string], Stored>('SELECT * FROM memories WHERE id = ?'),
    remove: db.prepare<[number]>('DELETE FROM memories WHERE seq = ?'),
    // Deletes with the original words, because a tombstone alone would leave them readable in the file.
    unindex: db.prepare<[number, string, string]>(
      "INSERT INTO memory_words (memory_words, rowid, text, tags) VALUES ('delete', ?, ?, ?)",
    ),
    removeVector: db.prepare<[number]>('DELETE FROM memory_vectors WHERE seq = ?'),
    count: db.prepare<[], number>('SELECT count(*) FROM memories').pluck(),
    removeAll: db.prepare('DELETE FROM memories'),
    removeVectors: db.prepare('DELETE FROM memory_vectors'),
    unindexAll: db.prepare("INSERT INTO memory_words (memory_words) VALUES ('delete-all')"),
  };
}

/** Returns the index columns of a memory. They must be identical when it is added and removed. */
function words(text: string, tags: readonly string[]): [string, string] {
  return [separateUnspaced(text), separateUnspaced(tags.join(' '))];
}

/** Changes row and index in one transaction. */
function transactions(db: Db, sql: ReturnType<typeof statements>, now: () => number) {
  return {
    add: db.transaction((text: string, tags: readonly string[]): string | null => {
      if ((sql.count.get() ?? 0) >= MAX_MEMORIES) return null;
      const id = randomUUID();
      const { lastInsertRowid } = sql.insert.run(id, text, toJson(tags), new Date(now()).toISOString());
      sql.index.run(lastInsertRowid, ...words(text, tags));
      return id;
    }),
    removeMany: db.transaction((ids: readonly string[]): number => {
      let removed = 0;
      for (const id of ids) {
        const row = sql.get.get(id);
        if (row === undefined) continue;
        sql.unindex.run(row.seq, ...words(row.text, fromJson<string[]>(row.tags, [])));
        sql.removeVector.run(row.seq);
        removed += sql.remove.run(row.seq).changes;
      }
      return removed;
    }),
    removeAll: db.transaction((): number => {
      sql.unindexAll.run();
      sql.removeVectors.run();
      return sql.removeAll.run().changes;
    }),
  };
}

export function memoryRepo(db: Db, faults: WriteHealth, now: () => number): MemoryRepo {
  const sql = statements(db);
  const change = transactions(db, sql, now);
  const get = (id: string): MemoryRecord | null => {
    const row = faults.read('memory', () => sql.get.get(id));
    return row === undefined ? null : fromStored(row);
  };
  return {
    add(text, tags) {
      const storedTags = tags.slice(0, MAX_TAGS).map((tag) => tag.slice(0, MAX_TAG_LENGTH).toWellFormed());
      const id = faults.write('memory', () => change.add.immediate(text.toWellFormed(), storedTags));
      if (id === null) throw new GatewayError('memory.full');
      return get(id) as MemoryRecord;
    },
    search(query, limit) {
      const expression = searchExpression(query);
      if (expression === null) return [];
      return faults
        .read('memory', () => sql.search.all(expression, clampRows(limit, MAX_FOUND)))
        .map(fromStored);
    },
    list(limit, offset) {
      const skipped = Number.isFinite(offset) ? Math.max(0, Math.trunc(offset)) : 0;
      return faults.read('memory', () => sql.list.all(clampRows(limit, MAX_LISTED), skipped)).map(fromStored);
    },
    get,
    remove: (id) => faults.write('memory', () => change.removeMany.immediate([id])) > 0,
    removeMany: (ids) => faults.write('memory', () => change.removeMany.immediate(ids)),
    removeAll: () => faults.write('memory', () => change.removeAll.immediate()),
    vectors: memoryVectors(db, faults),
  };
}
