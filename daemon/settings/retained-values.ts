import { settingRows } from './catalogue.ts';

/** Name of the file in the state folder with the values of the last readable config.toml. */
export const LAST_GOOD_FILE = 'last-good.json';

/** Returns the values by `table.key` that the catalogue still accepts. */
export function acceptedValues(values: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const out = new Map<string, unknown>();
  for (const row of settingRows()) {
    if (row.toml === undefined || !Object.hasOwn(values, row.toml)) continue;
    const read = row.type.fromToml(values[row.toml]);
    if (read.ok) out.set(row.toml, read.value);
  }
  return out;
}
