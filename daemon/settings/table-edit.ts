import { isDeepStrictEqual } from 'node:util';
import { setInTable, type TomlValue } from './config-file.ts';
import { tomlValues } from './config-text.ts';
import { removeKey } from './root-keys.ts';

type Entries = Readonly<Record<string, TomlValue>>;

/**
 * Makes a whole table of TOML text have these entries. Entries that do not change keep their bytes, and so does
 * everything outside the table. `normalise` returns the entries of the text in the form of `wanted`. Throws
 * ConfigEditError when an entry cannot be changed without touching others.
 */
export function setTableInConfigFile(
  text: string,
  table: string,
  wanted: Entries,
  normalise: (entries: unknown) => Entries,
): string {
  const raw = tomlValues(text)[table] ?? {};
  const current = normalise(raw);
  const removed = Object.keys(raw as object).filter((name) => !Object.hasOwn(wanted, name));
  const without = removed.reduce((edited, name) => removeKey(edited, table, name), text);
  const changed = Object.entries(wanted).filter(
    ([name, value]) => !Object.hasOwn(current, name) || !isDeepStrictEqual(current[name], value),
  );
  return changed.reduce((edited, [name, value]) => setInTable(edited, table, name, compact(value)), without);
}

/** Leaves out what is empty: a table, a list or a text without content. */
function compact(value: TomlValue): TomlValue {
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const filled = Object.entries(value).filter(([, one]) =>
    typeof one === 'object' ? Object.keys(one).length > 0 : one !== '',
  );
  return Object.fromEntries(filled);
}
