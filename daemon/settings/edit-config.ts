import { isDeepStrictEqual } from 'node:util';
import { setInTable } from './config-file.ts';
import { isTable, tomlValues } from './config-text.ts';
import { restOf, tableOfRest } from './config-values.ts';
import type { ModelMap } from './model-map.ts';
import { removeKey } from './root-keys.ts';

/**
 * Makes all keys of `table.*`, which no other setting has, have these values, and preserves every other character of
 * the text. Entries that do not change keep their lines. Throws as `setInTable` does.
 */
export function setRestOfTable(text: string, key: string, wanted: ModelMap): string {
  const table = tableOfRest(key) ?? key;
  const found = tomlValues(text)[table];
  const before = isTable(found) ? restOf(found, table) : {};
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(wanted, name));
  const rest = removed.reduce((edited, name) => removeKey(edited, table, name), text);
  return Object.entries(wanted)
    .filter(([name, models]) => !isDeepStrictEqual(before[name], models))
    .reduce((edited, [name, models]) => setInTable(edited, table, name, models), rest);
}
