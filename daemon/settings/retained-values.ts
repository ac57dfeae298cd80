import { settingRows } from './catalogue.ts';

/** In the state folder: the values of the last config.toml that could be read. */
export const LAST_GOOD_FILE = 'last-good.json';

/** Values by `table.key` that the catalogue still accepts. */
export function acceptedValues(values: Readonly<Record<string, unknown>>): Map<string, unknown> {
  const out = new Map<string, unknown>();
  for (const row of settingRows()) {
    if (row.toml === undefined || !Object.hasOwn(values, row.toml)) continue;
    const read = row.type.fromToml(values[row.toml]);
    if (read.ok) out.set(row.toml, read.value);
  }
  return out;
}
