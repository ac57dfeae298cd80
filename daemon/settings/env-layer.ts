import { settingRows } from './catalogue.ts';
import { describeEnvFile, parseEnvFile } from './env-file.ts';
import { limitProblems, type Problem } from './problem.ts';
import type { FileRead } from './read-file.ts';
import { flag } from './setting-types.ts';

export const ENV_FILE = 'api.env';
/** Maximum size of api.env in bytes. */
export const MAX_ENV_FILE_BYTES = 4 << 20;
const REQUIRE_AUTH = 'SVC_REQUIRE_AUTH';
const ADMIN_KEY = 'SVC_ADMIN_KEY';
/** Represents a word that is not text. It is in neither word list, so it counts as on, with the usual warning. */
const INVALID_TEXT = '\ufffd';

/** The result of reading api.env. */
export interface EnvReading {
  state: 'good' | 'missing' | 'broken';
  values: ReadonlyMap<string, string>;
  /** The line of each effective name. */
  lines: ReadonlyMap<string, number>;
  /** Names that are, or may be, assigned in a way that has no effect. */
  unread: ReadonlySet<string>;
  problems: Problem[];
}

/** State of earlier readings. */
export interface EnvMemory {
  /** The last reading in this run. Null at the start. */
  last: Pick<EnvReading, 'values' | 'unread'> | null;
  /** Whether the last readable api.env turned enforcement on. */
  enforced: boolean;
  /** The user id of this process. Null where there is none. */
  uid: number | null;
}

const KNOWN = new Set(settingRows().flatMap((row) => row.env ?? []));

/**
 * Evaluates one reading of api.env (docs/spec/contract.md#api-env). When the file cannot be read, its
 * previous values stay in force. At a first start it counts as "enforcement on" if it was on at the last one.
 * SVC_REQUIRE_AUTH with a value that is not text counts as on, like every word that is in neither word list.
 * A file that could not be read in this run may contain an admin key.
 */
export function evaluateEnv(read: FileRead, memory: EnvMemory): EnvReading {
  const none = new Map<string, number>();
  if (read.kind === 'missing')
    return { state: 'missing', values: new Map(), lines: none, unread: new Set(), problems: [] };
  if (read.kind === 'unreadable') {
    const start = {
      values: new Map(memory.enforced ? [[REQUIRE_AUTH, 'on']] : []),
      unread: new Set([ADMIN_KEY]),
    };
    const { values, unread } = memory.last ?? start;
    const consequence = memory.last === null ? '' : '; its previous content stays in effect';
    const problems = [problem(null, `${read.message}${consequence}`)];
    return { state: 'broken', values, lines: none, unread, problems };
  }
  const values = parseEnvFile(read.bytes);
  const { notes, lines, dropped, misplaced, withHash } = describeEnvFile(read.bytes);
  const invalidTextLine = dropped.get(REQUIRE_AUTH);
  if (invalidTextLine !== undefined) {
    values.set(REQUIRE_AUTH, INVALID_TEXT);
    lines.set(REQUIRE_AUTH, invalidTextLine);
  }
  const unknown = [...lines].filter(([name]) => name.startsWith('SVC_') && !KNOWN.has(name));
  const inText = [
    ...notes
      .filter(({ line }) => line !== invalidTextLine)
      .map(({ line, message }) => problem(line, `${message}; the line is ignored`)),
    ...withHash.map((line) => problem(line, HASH_IN_VALUE)),
    ...unknown.map(([name, line]) => problem(line, `unknown setting ${name.slice(0, 80)}`)),
  ].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const unread = new Set([...dropped.keys(), ...misplaced]);
  const problems = [...access(read, memory.uid), ...limitProblems(inText)];
  return { state: 'good', values, lines, unread, problems };
}

const HASH_IN_VALUE =
  'has " #" in its value, which does not begin a comment; put comments on separate lines, or quote the value';

/** Returns whether these variables turn enforcement on. An unknown word counts as on. */
export function enforcesByEnv(values: ReadonlyMap<string, string>): boolean {
  const text = values.get(REQUIRE_AUTH) ?? '';
  const read = flag({ unknownIsOn: true }).fromText(text);
  return text.trim() !== '' && read.ok && read.value;
}

const problem = (line: number | null, message: string): Problem => ({ file: ENV_FILE, line, message });

function access(read: { mode: number; uid: number }, uid: number | null): Problem[] {
  const found: Problem[] = [];
  if ((read.mode & 0o077) !== 0) {
    found.push(
      problem(null, `can be read by other users (mode ${read.mode.toString(8)}); run chmod 600 on it`),
    );
  }
  if (uid !== null && read.uid !== uid) {
    found.push(
      problem(null, `belongs to user ${read.uid}, so keys cannot be rotated; run chown ${uid} on it`),
    );
  }
  return found;
}
