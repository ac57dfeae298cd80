import { isDeepStrictEqual } from 'node:util';
import { type TomlTable, tomlValues } from './config-text.ts';
import { mapToml, type TomlMap } from './toml-map.ts';

/** Thrown when config.toml cannot be edited without changing other parts. */
export class ConfigEditError extends Error {
  override readonly name = 'ConfigEditError';
}

export type TomlValue =
  | boolean
  | number
  | string
  | readonly TomlValue[]
  | { readonly [name: string]: TomlValue };

/**
 * Sets `table.key` in TOML text and preserves every other character: comments, order, unknown keys, line
 * ends, byte order mark. A missing key is added at the end of its table, a missing table at the end of the
 * text. The result is parsed again to verify that only this key has changed. Throws ConfigEditError
 * otherwise, and TomlError for invalid TOML.
 */
export function setInConfigFile(text: string, key: string, value: TomlValue): string {
  const [table, name] = key.split('.') as [string, string];
  return setInTable(text, table, name, value);
}

/** Like `setInConfigFile`, for a key of a table that may contain any characters. */
export function setInTable(text: string, table: string, name: string, value: TomlValue): string {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  const source = text.slice(bom.length);
  const wanted = withKey(tomlValues(source), table, name, value);
  const edit = { table, name, key: keyText(name), literal: literal(value) };
  for (const candidate of candidates(source, edit)) {
    if (wanted !== null && readsAs(candidate, wanted)) return bom + candidate;
  }
  throw new ConfigEditError(`${table}.${name} cannot be set without changing other parts; edit the file`);
}

interface Edit {
  table: string;
  name: string;
  /** The name as it is written. */
  key: string;
  literal: string;
}

function withKey(values: TomlTable, table: string, name: string, value: TomlValue): TomlTable | null {
  const inner = Object.hasOwn(values, table) ? values[table] : {};
  if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return null;
  return { ...values, [table]: { ...inner, [name]: value } };
}

/** Returns whether the text is TOML with exactly these values. */
export function readsAs(text: string, wanted: TomlTable): boolean {
  try {
    return isDeepStrictEqual(plain(tomlValues(text)), plain(wanted));
  } catch {
    return false;
  }
}

/** Converts tables of the parser and of `withKey` to comparable values, regardless of their prototype. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return new Map(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

function* candidates(text: string, edit: Edit): Generator<string> {
  const map = mapToml(text);
  yield* replaced(text, map, edit);
  yield* intoTable(text, map, edit);
  yield* withDottedKey(text, map, edit);
  const eol = eolOf(text);
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  yield `${text}${gap}[${edit.table}]${eol}${edit.key} = ${edit.literal}${eol}`;
}

function* replaced(text: string, map: TomlMap, { table, name, literal }: Edit): Generator<string> {
  const at = map.entries.find(({ path }) => path.length === 2 && path[0] === table && path[1] === name);
  if (at !== undefined) yield text.slice(0, at.valueFrom) + literal + text.slice(at.valueTo);
}

function* intoTable(text: string, map: TomlMap, { table, key, literal }: Edit): Generator<string> {
  const place = map.tables.find(({ path }) => path.length === 1 && path[0] === table);
  if (place === undefined) return;
  if (place.kind !== 'inline') yield newLine(text, place.lastEnd, `${key} = ${literal}`);
  const glue = place.empty ? ' ' : ', ';
  const end = place.empty && text[place.lastEnd] === '}' ? ' ' : '';
  yield `${text.slice(0, place.lastEnd)}${glue}${key} = ${literal}${end}${text.slice(place.lastEnd)}`;
}

function* withDottedKey(text: string, map: TomlMap, { table, key, literal }: Edit): Generator<string> {
  const sibling = map.entries.findLast(
    ({ path, home }) => home === 'root' && path.length > 1 && path[0] === table,
  );
  if (sibling !== undefined) yield newLine(text, sibling.valueTo, `${table}.${key} = ${literal}`);
}

/** Inserts a line after the line that contains `offset`, with the same indentation. */
export function newLine(text: string, offset: number, line: string): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const indent = /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? '';
  const newline = text.indexOf('\n', offset);
  const end = newline < 0 ? text.length : newline - (text[newline - 1] === '\r' ? 1 : 0);
  return text.slice(0, end) + eolOf(text) + indent + line + text.slice(end);
}

/** Returns the line end that a text uses. */
export const eolOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n');

/** Formats a value as TOML. */
export function literal(value: TomlValue): string {
  if (typeof value === 'string') return basicString(value);
  if (typeof value !== 'object') return String(value);
  if (isList(value)) return `[${value.map(literal).join(', ')}]`;
  const members = Object.entries(value).map(([name, one]) => `${keyText(name)} = ${literal(one)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const isList = (value: object): value is readonly TomlValue[] => Array.isArray(value);

/** Returns a key as it is written in TOML: bare where possible, otherwise in quotes. */
const keyText = (name: string): string => (/^[A-Za-z0-9_-]+$/.test(name) ? name : basicString(name));

/** A JSON string is a basic string of TOML, except that TOML requires DEL to be escaped. */
const basicString = (text: string): string => JSON.stringify(text).replaceAll('\x7f', '\\u007f');
