import { type SettingRowDef, settingRows } from './catalogue.ts';
import { isTable, readConfigText, type TomlTable } from './config-text.ts';
import type { FileRead } from './read-file.ts';

export const ENFORCEMENT = 'security.require_auth';

/** State of earlier readings. */
export interface ConfigMemory {
  /** Accepted values of the last readable file. Null when there was none. */
  lastGood: ReadonlyMap<string, unknown> | null;
  /** Whether the last readable file had enforcement on. */
  enforced: boolean;
}

export interface ValidConfig {
  state: 'good';
  text: string;
  table: TomlTable;
  /** Effective values by `table.key`: accepted ones, and the last good one of a key with an invalid value. */
  values: ReadonlyMap<string, unknown>;
  /** Message for each value that is invalid as a whole or in part, by `table.key`. */
  wrong: ReadonlyMap<string, string>;
}

type EvaluatedText =
  | { state: 'missing' }
  | { state: 'broken'; line: number | null; message: string }
  | ValidConfig;

type Row = SettingRowDef<unknown> & { toml: string };
/** The settings that config.toml may contain. */
export const CONFIG_ROWS: readonly Row[] = settingRows().filter(
  (row): row is typeof row & Row => row.toml !== undefined,
);

/** Ends the key of a setting that consists of all keys of its table that no other setting has. */
const REST = '.*';
/** Returns the table of such a setting; null for a setting with one key. */
export const tableOfRest = (toml: string): string | null =>
  toml.endsWith(REST) ? toml.slice(0, -REST.length) : null;
/** `table.key` of every setting, and the names of whole tables. */
export const KEYS: ReadonlySet<string> = new Set(CONFIG_ROWS.map(({ toml }) => toml));
const TABLES_OF_REST = new Set(CONFIG_ROWS.flatMap(({ toml }) => tableOfRest(toml) ?? []));

/** Whether `table.key` belongs to a setting. */
export const isKnownKey = (table: string, key: string): boolean =>
  KEYS.has(`${table}.${key}`) || TABLES_OF_REST.has(table);

/** Evaluates one reading of config.toml, without line numbers. */
export function evaluateText(read: FileRead, memory: ConfigMemory): EvaluatedText {
  if (read.kind === 'missing') return { state: 'missing' };
  if (read.kind === 'unreadable') return { state: 'broken', line: null, message: read.message };
  if (isBlank(read.bytes) && (wasEnforced(memory) || (memory.lastGood?.size ?? 0) > 0)) {
    const message = 'is empty; if that is intended, write a comment line into it';
    return { state: 'broken', line: null, message };
  }
  const parsed = readConfigText(read.bytes);
  if (!parsed.ok) return { state: 'broken', line: parsed.line, message: parsed.message };
  const { text, table } = parsed;
  return { state: 'good', text, table, ...evaluateValues(table, memory) };
}

/** Returns the values that are in force while the file is unusable. */
export function lastGoodValues(memory: ConfigMemory): Map<string, unknown> {
  const values = new Map(memory.lastGood ?? []);
  if (wasEnforced(memory)) values.set(ENFORCEMENT, true);
  return values;
}

export const isBlank = (bytes: Buffer): boolean => bytes.toString('latin1').trim() === '';

export const wasEnforced = (memory: ConfigMemory): boolean =>
  memory.enforced || memory.lastGood?.get(ENFORCEMENT) === true;

const NO_TABLE = 'is outside of its table';

function evaluateValues(table: TomlTable, memory: ConfigMemory): Pick<ValidConfig, 'values' | 'wrong'> {
  const values = new Map<string, unknown>();
  const wrong = new Map<string, string>();
  for (const row of CONFIG_ROWS) {
    const raw = rawValue(table, row.toml);
    if (raw === undefined) continue;
    const read = 'value' in raw ? row.type.fromToml(raw.value) : { ok: false as const, reason: NO_TABLE };
    const value = read.ok ? read.value : fallback(row, memory);
    if (value !== undefined) values.set(row.toml, value);
    const reason = read.ok ? read.warning : `${read.reason}; ${JSON.stringify(value ?? row.default)} is used`;
    if (reason !== undefined) wrong.set(row.toml, `${row.toml} ${reason}`);
  }
  return { values, wrong };
}

function fallback(row: Row, memory: ConfigMemory): unknown {
  if (row.toml === ENFORCEMENT && wasEnforced(memory)) return true;
  return memory.lastGood?.get(row.toml) ?? (row.toml === ENFORCEMENT ? true : undefined);
}

/**
 * Returns the raw value of `table.key` or of a whole table, or an empty object when the name of the table is used
 * for something else.
 */
function rawValue(table: TomlTable, key: string): { value: unknown } | Record<never, never> | undefined {
  const [name, inner] = key.split('.') as [string, string?];
  if (!Object.hasOwn(table, name)) return undefined;
  const found = table[name];
  if (inner === undefined) return { value: found };
  if (!isTable(found)) return {};
  if (tableOfRest(key) !== null) {
    const rest = restOf(found, name);
    return Object.keys(rest).length === 0 ? undefined : { value: rest };
  }
  return Object.hasOwn(found, inner) ? { value: found[inner] } : undefined;
}

/** Returns the entries of a table that no setting with one key has. */
export function restOf(table: TomlTable, name: string): TomlTable {
  return Object.fromEntries(Object.entries(table).filter(([key]) => !KEYS.has(`${name}.${key}`)));
}
