import { ConfigEditError, eolOf, literal, newLine, readsAs, type TomlValue } from './config-file.ts';
import { type TomlTable, tomlValues } from './config-text.ts';
import { mapToml, type TomlEntry, type TomlMap } from './toml-map.ts';

const BOM = '\ufeff';

/**
 * Applies an edit to text without byte order mark, verifies that it produced exactly the expected values, and
 * restores the mark.
 */
function applyEdit(
  text: string,
  key: string,
  expect: (values: TomlTable) => TomlTable,
  edits: (source: string, map: TomlMap) => Iterable<string>,
): string {
  const bom = text.startsWith(BOM) ? BOM : '';
  const source = text.slice(bom.length);
  const wanted = expect(tomlValues(source));
  for (const candidate of edits(source, mapToml(source))) {
    if (readsAs(candidate, wanted)) return bom + candidate;
  }
  throw new ConfigEditError(`${key} cannot be changed without changing other parts; edit the file`);
}

const isRoot = ({ path, home }: TomlEntry, name: string): boolean =>
  home === 'root' && path.length === 1 && path[0] === name;

/**
 * Sets a top-level key of TOML text and preserves every other character. Throws ConfigEditError when that is
 * impossible, TomlError for invalid TOML.
 */
export function setRootKey(text: string, name: string, value: TomlValue): string {
  const expect = (values: TomlTable) => ({ ...values, [name]: value });
  return applyEdit(text, name, expect, (source, map) => withRootKey(source, map, name, literal(value)));
}

function* withRootKey(text: string, map: TomlMap, name: string, value: string): Generator<string> {
  const own = map.entries.find((entry) => isRoot(entry, name));
  if (own !== undefined) yield text.slice(0, own.valueFrom) + value + text.slice(own.valueTo);
  const last = map.entries.findLast(({ home }) => home === 'root');
  if (last !== undefined) yield newLine(text, last.valueTo, `${name} = ${value}`);
  const eol = eolOf(text);
  const line = `${name} = ${value}${eol}`;
  const table = map.tables.find(({ kind }) => kind !== 'inline');
  if (table === undefined) yield text === '' || text.endsWith('\n') ? text + line : text + eol + line;
  else {
    const at = aboveComments(text, table.from);
    yield text.slice(0, at) + line + eol + text.slice(at);
  }
}

/** Returns the start of the comment lines directly above the line of `offset`, otherwise of that line. */
function aboveComments(text: string, offset: number): number {
  let start = lineStart(text, offset);
  while (start > 0) {
    const above = lineStart(text, start - 1);
    if (!/^[ \t]*#/.test(text.slice(above, start))) break;
    start = above;
  }
  return start;
}

const lineStart = (text: string, offset: number): number => text.lastIndexOf('\n', offset - 1) + 1;

/**
 * Removes a key from TOML text: top-level `name` (a table of that name is removed with all its keys), or
 * `table.key`. Preserves comments and every other character. Does nothing when the key is missing. Throws as
 * `setRootKey` does.
 */
export function removeKey(text: string, ...path: [name: string] | [table: string, key: string]): string {
  const [name, key] = path;
  return applyEdit(
    text,
    path.join('.'),
    (values) => valuesWithout(values, name, key),
    (source, map) => [
      source,
      key === undefined ? removeName(source, map, name) : removeTableKey(source, map, name, key),
    ],
  );
}

function valuesWithout(values: TomlTable, name: string, key: string | undefined): TomlTable {
  const { [name]: own, ...rest } = values;
  if (key === undefined || typeof own !== 'object' || own === null) return key === undefined ? rest : values;
  const { [key]: _, ...remaining } = own as TomlTable;
  return Object.keys(remaining).length === 0 ? rest : { ...values, [name]: remaining };
}

/** Removes a key of a table. Removing the last key removes the table. */
function removeTableKey(text: string, map: TomlMap, name: string, key: string): string {
  const members = map.entries.filter(({ path }) => path.length === 2 && path[0] === name);
  const own = members.find(({ path }) => path[1] === key);
  if (own === undefined) return text;
  if (members.length === 1) return removeName(text, map, name);
  if (own.home !== 'inline') return cutSpan(text, own.valueFrom, own.valueTo);
  const table = map.entries.find((entry) => isRoot(entry, name));
  if (table === undefined) return text;
  const remaining = members.filter((member) => member !== own);
  const pairs = remaining.map(
    (member) => `${member.path[1]} = ${text.slice(member.valueFrom, member.valueTo)}`,
  );
  return `${text.slice(0, table.valueFrom)}{ ${pairs.join(', ')} }${text.slice(table.valueTo)}`;
}

function removeName(text: string, map: TomlMap, name: string): string {
  const keys = map.entries.filter(({ path, home }) => path[0] === name && home !== 'inline');
  const headers = map.tables.filter(({ path, kind }) => path[0] === name && kind !== 'inline');
  const spans = [
    ...keys.map(({ valueFrom, valueTo }) => ({ from: valueFrom, to: valueTo })),
    ...headers.map(({ from }) => ({ from, to: headerEnd(text, from) })),
  ];
  return spans.sort((a, b) => b.from - a.from).reduce((rest, { from, to }) => cutSpan(rest, from, to), text);
}

/** Returns the end of the `]` or `]]` that closes a header. */
function headerEnd(text: string, from: number): number {
  const line = /^[^\n]*/.exec(text.slice(from))?.[0] ?? '';
  const header = /^\[{1,2}(?:[^\]"'#]|"(?:[^"\\]|\\.)*"|'[^']*')*\]{1,2}/.exec(line)?.[0] ?? line;
  return from + header.length;
}

/**
 * Removes everything from the start of the line that contains `from` up to `to`. A comment after it keeps its
 * line.
 */
function cutSpan(text: string, from: number, to: number): string {
  const start = lineStart(text, from);
  const newline = text.indexOf('\n', to);
  const end = newline < 0 ? text.length : newline + 1;
  const rest = text.slice(to, end);
  return text.slice(0, start) + (rest.trim() === '' ? '' : rest.trimStart()) + text.slice(end);
}
