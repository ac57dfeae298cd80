import { type Assignment, BYTE_ORDER_MARK, type Dialect, type ScanState, scanEnv } from './env-scan.ts';

/**
 * Thrown when api.env cannot be edited without changing other bytes, or when a name or value cannot be
 * written.
 */
export class EnvFileError extends Error {
  override readonly name = 'EnvFileError';
}

/** A part of the file that is ignored, by line (from 1). Never contains text of the line. */
export interface EnvFileNote {
  line: number;
  message: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MODERN: Dialect = { commentContinues: false };
const CLASSIC: Dialect = { commentContinues: true };
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const toText = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

/** Returns a function from offset to line number. Offsets must be passed in ascending order. */
function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (offset) => {
    for (; next >= 0 && next < offset; line++) next = text.indexOf('\n', next + 1);
    return line;
  };
}

/** Decodes a value. Returns null when systemd would not accept it (invalid UTF-8, or a NUL). */
function decode(value: string): string | null {
  if (value.includes('\0')) return null;
  try {
    return utf8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return null;
  }
}

/** Returns the name without `export`, which shells need before it. */
const nameOf = ({ name }: Assignment): string => name.replace(/^export[ \t]+/, '');

function effective(text: string, dialect: Dialect): Map<string, string> {
  const values = new Map<string, string>();
  for (const one of scanEnv(text, dialect).assignments) {
    const name = nameOf(one);
    const decoded = NAME.test(name) ? decode(one.value) : null;
    if (decoded !== null) values.set(name, decoded);
  }
  return values;
}

/**
 * Returns the variables of an environment file as systemd's `EnvironmentFile=` reads it: comments, quotes,
 * continuation lines, last assignment wins, no expansion. In addition reads lines that systemd ignores because
 * of `export` or a byte order mark before the name: people write both, and a key that is not read opens the
 * gateway. Ignores other invalid names and values that are not UTF-8. Never throws.
 */
export function parseEnvFile(bytes: Uint8Array): Map<string, string> {
  return effective(toText(bytes), MODERN);
}

/** Description of the lines of an environment file. */
export interface EnvFileLines {
  /** The lines that are ignored, and why. */
  notes: EnvFileNote[];
  /** The line of each effective name. */
  lines: Map<string, number>;
  /** Names whose last assignment is ignored because of its value, with its line. */
  dropped: Map<string, number>;
  /** Names that a line assigns without effect, because something precedes the name or the text is UTF-16. */
  misplaced: Set<string>;
  /** Lines with ` #` in a value without quotes, which is part of the value and not a comment. */
  withHash: number[];
}

/** Describes the lines of an environment file. Never throws. */
export function describeEnvFile(bytes: Uint8Array): EnvFileLines {
  const text = toText(bytes);
  const scan = scanEnv(text, MODERN);
  const strayLine = lineCounter(text);
  const notes = scan.stray.map((offset) => ({ line: strayLine(offset), message: 'is not NAME=value' }));
  const lines = new Map<string, number>();
  const dropped = new Map<string, number>();
  const misplaced = new Set<string>();
  const withHash: number[] = [];
  const assignmentLine = lineCounter(text);
  for (const one of scan.assignments) {
    const line = assignmentLine(one.start);
    const name = nameOf(one);
    if (!NAME.test(name)) {
      notes.push({ line, message: 'has no valid name' });
      if (withoutNuls(one.value).trim() !== '') misplaced.add(nameAtEnd(one.name));
    } else if (decode(one.value) === null) {
      notes.push({ line, message: 'has a value that is not UTF-8 text' });
      dropped.set(name, line);
    } else {
      lines.set(name, line);
      dropped.delete(name);
      if (hasUnquotedHash(text.slice(one.valueStart, one.valueEnd))) withHash.push(line);
    }
  }
  return { notes: notes.sort((a, b) => a.line - b.line), lines, dropped, misplaced, withHash };
}

const LEADING_QUOTES = /^(?:[ \t]*(?:"(?:[^"\\]|\\[\s\S])*"|'[^']*'))*/;
/** Characters of a value that are searched for a hash. No key is longer. */
const MAX_HASH_SCAN = 4096;

/** Returns whether a value has a hash that a shell would read as the start of a comment. */
const hasUnquotedHash = (raw: string): boolean =>
  /[ \t]#/.test(raw.slice(0, MAX_HASH_SCAN).replace(LEADING_QUOTES, ''));

/** Removes NULs. UTF-16 read byte by byte has a NUL next to each letter. */
const withoutNuls = (text: string): string => text.replaceAll('\0', '');

/**
 * Number of characters at the end of a line that are searched. No setting has a longer name, and UTF-16 needs
 * two bytes per character.
 */
const MAX_NAME_SCAN = 512;

/** Returns the variable name at the end of an invalid name, or an empty string. */
const nameAtEnd = (text: string): string =>
  withoutNuls(text.slice(-MAX_NAME_SCAN))
    .slice(-MAX_NAME_SCAN / 2)
    .replace(/^.*[^A-Za-z0-9_]/s, '');

/**
 * Sets one variable and preserves every other byte. Changes the last effective assignment and removes the lines
 * of earlier ones (docs/spec/contract.md#rotate-duplicates), or appends a line.
 * The result is read identically by older and newer systemd versions. Throws EnvFileError where that is
 * impossible or the value contains control characters.
 */
export function setInEnvFile(bytes: Uint8Array, name: string, value: string): Buffer {
  if (!NAME.test(name)) throw new EnvFileError('the name is not a variable name');
  if (/[\0-\x1f\x7f]/.test(value)) throw new EnvFileError('the value contains control characters');
  const text = toText(bytes);
  const raw = Buffer.from(value, 'utf8').toString('latin1');
  for (const candidate of candidates(text, name, raw)) {
    if (isSafeEdit(text, candidate, name, value)) return Buffer.from(candidate, 'latin1');
  }
  throw new EnvFileError('the file cannot be changed safely; correct it in an editor');
}

function* candidates(text: string, name: string, raw: string): Generator<string> {
  const scan = scanEnv(text, MODERN);
  const all = scan.assignments.filter((one) => nameOf(one) === name);
  const last = all.pop();
  if (last !== undefined) {
    const changed = replaceValue(text, last, raw);
    if (all.length > 0) yield withoutLines(changed, all);
    yield changed;
  }
  yield append(text, scan.end, name, raw);
  yield append(text, scanEnv(text, CLASSIC).end, name, raw);
}

/**
 * Returns whether in both dialects `name` has the new value and every other name its old one. A byte order mark on
 * a later line must not become the start of the file, where it would be skipped.
 */
function isSafeEdit(before: string, after: string, name: string, value: string): boolean {
  if (after.startsWith(BYTE_ORDER_MARK) !== before.startsWith(BYTE_ORDER_MARK)) return false;
  return [MODERN, CLASSIC].every((dialect) => {
    const wanted = effective(before, dialect).set(name, value);
    const got = effective(after, dialect);
    return got.size === wanted.size && [...wanted].every(([key, one]) => got.get(key) === one);
  });
}

/** Removes the lines of assignments, each of which another assignment follows. */
function withoutLines(text: string, assignments: readonly Assignment[]): string {
  return assignments.reduceRight((rest, { start, valueEnd }) => {
    const before = rest.slice(0, start).replace(/[ \t]+$/, '');
    const to = valueEnd + (rest.startsWith('\r\n', valueEnd) ? 2 : 1);
    return before + rest.slice(to);
  }, text);
}

/** Replaces a value and preserves the blanks around it and the quote style. */
function replaceValue(text: string, { valueStart, valueEnd }: Assignment, raw: string): string {
  const old = text.slice(valueStart, valueEnd);
  const lead = old.slice(0, old.search(/[^ \t]|$/));
  const core = old.slice(lead.length).replace(/[ \t]+$/, '');
  const tail = old.slice(lead.length + core.length);
  return text.slice(0, valueStart) + lead + encode(raw, core) + tail + text.slice(valueEnd);
}

const QUOTED = /^(?:'[^']*'|"(?:[^"\\]|\\[\s\S])*")$/;
const PLAIN = /^[A-Za-z0-9_.:/@%+,=-]*$/;

function encode(raw: string, old = ''): string {
  const quote = QUOTED.test(old) ? old[0] : '';
  if (quote === "'" && !raw.includes("'")) return `'${raw}'`;
  if (quote === '' && PLAIN.test(raw)) return raw;
  return `"${raw.replace(/["\\`$]/g, '\\$&')}"`;
}

/** Returns the text that ends an open last line without changing its value. */
function terminatorFor(end: ScanState, eol: string): string {
  if (end === 'single') return `'${eol}`;
  if (end === 'double') return `"${eol}`;
  if (end === 'doubleEscape') return `\n"${eol}`;
  return end === 'valueEscape' || end === 'commentEscape' ? eol + eol : eol;
}

function append(text: string, end: ScanState, name: string, raw: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const closed = text === '' || (end === 'preKey' && /[\r\n]$/.test(text));
  return `${text}${closed ? '' : terminatorFor(end, eol)}${name}=${encode(raw)}${closed ? eol : ''}`;
}
