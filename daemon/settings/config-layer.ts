import { CONFIG_FILE, isTable, type TomlTable } from './config-text.ts';
import {
  CONFIG_ROWS,
  type ConfigMemory,
  ENFORCEMENT,
  evaluateText,
  isBlank,
  isKnownKey,
  KEYS,
  lastGoodValues,
  type ValidConfig,
  wasEnforced,
} from './config-values.ts';
import { limitProblems, type Problem } from './problem.ts';
import type { FileRead } from './read-file.ts';
import { mapToml } from './toml-map.ts';

/** The result of reading config.toml. */
export interface ConfigReading {
  state: 'good' | 'missing' | 'broken';
  /** Accepted values by `table.key`. */
  values: ReadonlyMap<string, unknown>;
  problems: Problem[];
  /** Message for each invalid value, by `table.key`. */
  wrong: ReadonlyMap<string, string>;
  /** Set when neither the file nor an earlier state is usable, so that only defaults remain. */
  fatalError?: Problem;
}

/**
 * Evaluates one reading of config.toml (docs/spec/contract.md#config-errors, cases F01 and F03):
 * - unreadable, invalid TOML, or suddenly empty: the last good values stay in force;
 * - missing: no values, except that enforcement which was on stays on;
 * - an invalid value: the last good one of that key, otherwise the default. An invalid `require_auth` without
 *   a last good value counts as on.
 */
export function evaluateConfig(read: FileRead, memory: ConfigMemory): ConfigReading {
  const evaluated = evaluateText(read, memory);
  if (evaluated.state === 'missing') return missing(memory);
  return evaluated.state === 'good' ? good(evaluated) : broken(memory, evaluated.line, evaluated.message);
}

/**
 * Returns the values that stay in force although config.toml, with this content (null: missing), does not
 * contain them. A write must add them too: afterwards the file is valid and everything it does not contain is
 * lost.
 */
export function retainedValues(bytes: Buffer | null, memory: ConfigMemory): ReadonlyMap<string, unknown> {
  if (bytes === null) return missing(memory).values;
  return isBlank(bytes) ? broken(memory, null, '').values : new Map();
}

function missing(memory: ConfigMemory): ConfigReading {
  if (!wasEnforced(memory)) return { state: 'missing', values: new Map(), problems: [], wrong: new Map() };
  const message = `is missing, so keys are still required; to change that, create it with require_auth = false under [security]`;
  return {
    state: 'missing',
    values: new Map([[ENFORCEMENT, true]]),
    problems: [{ file: CONFIG_FILE, line: null, message }],
    wrong: new Map([[ENFORCEMENT, message]]),
  };
}

function broken(memory: ConfigMemory, line: number | null, message: string): ConfigReading {
  const values = lastGoodValues(memory);
  const consequence =
    memory.lastGood === null ? 'defaults are used' : 'the last good configuration stays active';
  const problems = [{ file: CONFIG_FILE, line, message: `${message}; ${consequence}` }];
  const reading: ConfigReading = { state: 'broken', values, problems, wrong: new Map() };
  const nothingKnown = memory.lastGood === null && !wasEnforced(memory);
  return nothingKnown ? { ...reading, fatalError: { file: CONFIG_FILE, line, message } } : reading;
}

const TABLES = new Set(CONFIG_ROWS.map((row) => row.toml.split('.')[0] as string));

interface Finding {
  path: string[];
  message: string;
}

function good({ text, table, values, wrong }: ValidConfig): ConfigReading {
  const inTable = (key: string) =>
    KEYS.has(key.split('.')[0] as string) || isTable(table[key.split('.')[0] as string]);
  const findings = [...wrong]
    .filter(([key]) => inTable(key))
    .map(([key, message]) => ({ path: key.split('.'), message }));
  return { state: 'good', values, problems: withLines(text, [...findings, ...unknownNames(table)]), wrong };
}

function unknownNames(table: TomlTable): Finding[] {
  const findings: Finding[] = [];
  for (const [name, inner] of Object.entries(table)) {
    if (!TABLES.has(name)) findings.push({ path: [name], message: `unknown name "${name.slice(0, 80)}"` });
    else if (KEYS.has(name)) continue;
    else if (!isTable(inner)) findings.push({ path: [name], message: `"${name}" must be a table` });
    else {
      for (const key of Object.keys(inner)) {
        if (isKnownKey(name, key)) continue;
        findings.push({ path: [name, key], message: `unknown key "${`${name}.${key}`.slice(0, 80)}"` });
      }
    }
  }
  return findings;
}

/** Returns the findings with their line numbers, in the order of the file. */
function withLines(text: string, findings: Finding[]): Problem[] {
  if (findings.length === 0) return [];
  const lines = linesOf(text);
  const problems = findings.map(({ path, message }) => ({
    file: CONFIG_FILE,
    line: lineOf(lines, path),
    message,
  }));
  return limitProblems(problems.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)));
}

const join = (path: readonly string[]): string => path.join('\0');

function linesOf(text: string): Map<string, number> {
  const lines = new Map<string, number>();
  try {
    const map = mapToml(text.replace(/^\ufeff/, ''));
    for (const { path, line } of [...map.entries, ...map.tables]) {
      for (let depth = 1; depth <= path.length; depth++) {
        const name = join(path.slice(0, depth));
        lines.set(name, Math.min(lines.get(name) ?? line, line));
      }
    }
  } catch {
    // Without positions the problems are reported without a line.
  }
  return lines;
}

const lineOf = (lines: Map<string, number>, path: string[]): number | null =>
  lines.get(join(path)) ?? lines.get(join(path.slice(0, 1))) ?? null;
