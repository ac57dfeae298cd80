import { type SettingRowDef, settingRows } from './catalogue.ts';
import { readConfigText, type TomlTable } from './config-text.ts';
import { boundProblems, type Problem } from './problem.ts';
import type { FileRead } from './read-file.ts';
import { mapToml } from './toml-map.ts';

export const CONFIG_FILE = 'config.toml';
const ENFORCEMENT = 'security.require_auth';

/** What config.toml says, as far as it can be used. */
export interface ConfigPicture {
  state: 'good' | 'missing' | 'broken';
  /** Accepted values by `table.key`. */
  values: ReadonlyMap<string, unknown>;
  problems: Problem[];
  /** What is wrong with a value, by `table.key`. */
  wrong: ReadonlyMap<string, string>;
  /** Why nothing of the file and nothing from before can be used: only defaults are left. */
  hopeless?: Problem;
}

/** What is known from before. */
export interface ConfigMemory {
  /** Accepted values of the last file that could be read; null when there was none. */
  lastGood: ReadonlyMap<string, unknown> | null;
  /** Whether the last file that could be read had enforcement on. */
  enforced: boolean;
}

/**
 * Judges one reading of config.toml (contract "Names and places", cases F01 and F03):
 * - can't be read, no TOML, or suddenly empty: the last good values stay;
 * - missing: no values, except that enforcement which was on stays on;
 * - a wrong value: the last good one of that key, else the default. A wrong `require_auth` without a last good one
 *   counts as on.
 */
export function judgeConfig(read: FileRead, memory: ConfigMemory): ConfigPicture {
  if (read.kind === 'missing') return missing(memory);
  if (read.kind === 'unreadable') return broken(memory, null, read.message);
  if (isBlank(read.bytes) && (wasOn(memory) || (memory.lastGood?.size ?? 0) > 0)) {
    return broken(memory, null, 'is empty; write a comment line if it is meant to hold no setting');
  }
  const parsed = readConfigText(read.bytes);
  return parsed.ok ? good(parsed.text, parsed.table, memory) : broken(memory, parsed.line, parsed.message);
}

/**
 * What counts although config.toml, as it stands now (null: not there), says nothing any more. Whoever writes a key into it must
 * write these too: the file is good from then on, and what it doesn't say would be lost.
 */
export function keptWithout(bytes: Buffer | null, memory: ConfigMemory): ReadonlyMap<string, unknown> {
  if (bytes === null) return missing(memory).values;
  return isBlank(bytes) ? broken(memory, null, '').values : new Map();
}

const isBlank = (bytes: Buffer): boolean => bytes.toString('latin1').trim() === '';

const wasOn = (memory: ConfigMemory): boolean =>
  memory.enforced || memory.lastGood?.get(ENFORCEMENT) === true;

function missing(memory: ConfigMemory): ConfigPicture {
  if (!wasOn(memory)) return { state: 'missing', values: new Map(), problems: [], wrong: new Map() };
  const message = `is gone, so enforcement stays on; to turn it off, write it anew with require_auth = false under [security]`;
  return {
    state: 'missing',
    values: new Map([[ENFORCEMENT, true]]),
    problems: [{ file: CONFIG_FILE, line: null, message }],
    wrong: new Map([[ENFORCEMENT, message]]),
  };
}

function broken(memory: ConfigMemory, line: number | null, message: string): ConfigPicture {
  const values = new Map(memory.lastGood ?? []);
  if (wasOn(memory)) values.set(ENFORCEMENT, true);
  const kept = memory.lastGood === null ? 'defaults are used' : 'the last good configuration stays active';
  const problems = [{ file: CONFIG_FILE, line, message: `${message}; ${kept}` }];
  const picture: ConfigPicture = { state: 'broken', values, problems, wrong: new Map() };
  const nothingKnown = memory.lastGood === null && !wasOn(memory);
  return nothingKnown ? { ...picture, hopeless: { file: CONFIG_FILE, line, message } } : picture;
}

type Row = SettingRowDef<unknown> & { toml: string };
const ROWS: readonly Row[] = settingRows().filter((row): row is typeof row & Row => row.toml !== undefined);
const TABLES = new Set(ROWS.map((row) => row.toml.split('.')[0] as string));
const KEYS = new Set(ROWS.map((row) => row.toml));

interface Finding {
  path: string[];
  message: string;
}

function good(text: string, table: TomlTable, memory: ConfigMemory): ConfigPicture {
  const values = new Map<string, unknown>();
  const wrong = new Map<string, string>();
  for (const row of ROWS) {
    const raw = lookUp(table, row.toml);
    if (raw === undefined) continue;
    const read = 'value' in raw ? row.kind.fromToml(raw.value) : { ok: false as const, reason: NO_TABLE };
    const value = read.ok ? read.value : fallback(row, memory);
    if (value !== undefined) values.set(row.toml, value);
    if (!read.ok) {
      wrong.set(row.toml, `${row.toml} ${read.reason}; ${JSON.stringify(value ?? row.default)} is used`);
    }
  }
  const inTable = (key: string) => isTable(table[key.split('.')[0] as string]);
  const findings = [...wrong]
    .filter(([key]) => inTable(key))
    .map(([key, message]) => ({ path: key.split('.'), message }));
  return { state: 'good', values, problems: placed(text, [...findings, ...unknownNames(table)]), wrong };
}

const NO_TABLE = 'stands outside of its table';

function fallback(row: Row, memory: ConfigMemory): unknown {
  if (row.toml === ENFORCEMENT && wasOn(memory)) return true;
  return memory.lastGood?.get(row.toml) ?? (row.toml === ENFORCEMENT ? true : undefined);
}

/** The raw value of `table.key`; empty when the table's name is taken by something else. */
function lookUp(table: TomlTable, key: string): { value: unknown } | Record<never, never> | undefined {
  const [name, inner] = key.split('.') as [string, string];
  if (!Object.hasOwn(table, name)) return undefined;
  const found = table[name];
  if (!isTable(found)) return {};
  return Object.hasOwn(found, inner) ? { value: found[inner] } : undefined;
}

const isTable = (value: unknown): value is TomlTable =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

function unknownNames(table: TomlTable): Finding[] {
  const findings: Finding[] = [];
  for (const [name, inner] of Object.entries(table)) {
    if (!TABLES.has(name)) findings.push({ path: [name], message: `unknown name "${name.slice(0, 80)}"` });
    else if (!isTable(inner)) findings.push({ path: [name], message: `"${name}" must be a table` });
    else {
      for (const key of Object.keys(inner)) {
        const full = `${name}.${key}`;
        if (!KEYS.has(full))
          findings.push({ path: [name, key], message: `unknown key "${full.slice(0, 80)}"` });
      }
    }
  }
  return findings;
}

/** Findings with the lines they stand on, in the order of the file. */
function placed(text: string, findings: Finding[]): Problem[] {
  if (findings.length === 0) return [];
  const lines = linesOf(text);
  const problems = findings.map(({ path, message }) => ({
    file: CONFIG_FILE,
    line: lineOf(lines, path),
    message,
  }));
  return boundProblems(problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)));
}

const join = (path: readonly string[]): string => path.join('\0');

function linesOf(text: string): Map<string, number> {
  const lines = new Map<string, number>();
  try {
    const map = mapToml(text.replace(/^\ufeff/, ''));
    for (const { path, line } of [...map.entries, ...map.places]) {
      for (let depth = 1; depth <= path.length; depth++) {
        const name = join(path.slice(0, depth));
        lines.set(name, Math.min(lines.get(name) ?? line, line));
      }
    }
  } catch {
    // Without positions the problems are still named, only without a line.
  }
  return lines;
}

const lineOf = (lines: Map<string, number>, path: string[]): number | null =>
  lines.get(join(path)) ?? lines.get(join(path.slice(0, 1))) ?? null;
