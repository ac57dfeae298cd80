import type { ModelRecordView } from '../contract/models.ts';
import { fromJson, toJson } from './columns.ts';
import type { Db } from './connection.ts';
import type { WriteHealth } from './write-health.ts';

/** One model of the registry. The public part is that of `GET /api/models`. */
export interface ModelRow extends Omit<ModelRecordView, 'source' | 'projector' | 'chat_template'> {
  /** Absolute path of the (first) file. Null when an upstream serves the model. */
  file: string | null;
  /** All parts of a split file, in order. Otherwise `file` alone, or empty. */
  files: string[];
  modalities: { input: string[]; output: string[] };
  capabilities: Record<string, boolean>;
  /** Origin: `demo`, `scan`, `pull`, `register`, `upstream`. */
  source: string;
  /** The automatic slot of the model. Null when a slot file names the model. */
  auto_slot: Record<string, unknown> | null;
  /** Bytes measured on this machine by device name. */
  memory: Record<string, number>;
  /** Header metadata beyond the public part, and the file state that it belongs to. */
  header: Record<string, unknown>;
}

/** The rows of the model registry. Every call throws `store.unavailable` when the database fails. */
export interface ModelsRepo {
  /** Adds or replaces the row with this id. An existing row keeps its `created`. */
  upsert(row: ModelRow): void;
  /** Returns whether the row existed. */
  remove(id: string): boolean;
  /** Returns all rows, ordered by id. */
  all(): ModelRow[];
  get(id: string): ModelRow | null;
}

const PLAIN = [
  'id',
  'name',
  'type',
  'format',
  'architecture',
  'quantization',
  'size_bytes',
  'sha256',
  'file',
  'repo',
  'context_length',
  'licence',
  'source',
  'revision',
  'binding',
  'created',
] as const satisfies readonly (keyof ModelRow)[];
const CODED = [
  'files',
  'modalities',
  'capabilities',
  'enable_thinking',
  'auto_slot',
  'demo',
  'memory',
  'header',
] as const satisfies readonly (keyof ModelRow)[];

type Coded = (typeof CODED)[number];
type Stored = Omit<ModelRow, Coded> & {
  files: string;
  modalities: string;
  capabilities: string;
  enable_thinking: number | null;
  auto_slot: string | null;
  demo: number;
  memory: string;
  header: string;
};

function toStored(row: ModelRow): Stored {
  const plain = Object.fromEntries(PLAIN.map((name) => [name, row[name]])) as Omit<ModelRow, Coded>;
  return {
    ...plain,
    files: toJson(row.files),
    modalities: toJson(row.modalities),
    capabilities: toJson(row.capabilities),
    enable_thinking: row.enable_thinking === null ? null : Number(row.enable_thinking),
    auto_slot: row.auto_slot === null ? null : toJson(row.auto_slot),
    demo: Number(row.demo),
    memory: toJson(row.memory),
    header: toJson(row.header),
  };
}

function fromStored(row: Stored): ModelRow {
  return {
    ...row,
    files: fromJson<string[]>(row.files, []),
    modalities: fromJson(row.modalities, { input: ['text'], output: ['text'] }),
    capabilities: fromJson<Record<string, boolean>>(row.capabilities, {}),
    enable_thinking: row.enable_thinking === null ? null : row.enable_thinking === 1,
    auto_slot: fromJson<Record<string, unknown> | null>(row.auto_slot, null),
    demo: row.demo === 1,
    memory: fromJson<Record<string, number>>(row.memory, {}),
    header: fromJson<Record<string, unknown>>(row.header, {}),
  };
}

export function modelsRepo(db: Db, faults: WriteHealth): ModelsRepo {
  const names = [...PLAIN, ...CODED];
  const changed = names.filter((name) => name !== 'id' && name !== 'created');
  const upsert = db.prepare<[Stored]>(
    `INSERT INTO models (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})
     ON CONFLICT (id) DO UPDATE SET ${changed.map((name) => `${name} = excluded.${name}`).join(', ')}`,
  );
  const remove = db.prepare<[string]>('DELETE FROM models WHERE id = ?');
  const all = db.prepare<[], Stored>(`SELECT ${names.join(', ')} FROM models ORDER BY id`);
  const get = db.prepare<[string], Stored>(`SELECT ${names.join(', ')} FROM models WHERE id = ?`);
  return {
    upsert: (row) => void faults.write('models', () => upsert.run(toStored(row))),
    remove: (id) => faults.write('models', () => remove.run(id).changes > 0),
    all: () => faults.read('models', () => all.all()).map(fromStored),
    get(id) {
      const row = faults.read('models', () => get.get(id));
      return row === undefined ? null : fromStored(row);
    },
  };
}
