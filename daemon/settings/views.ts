import type { SettingRow } from '../contract/system.ts';
import type { SettingName, SettingRowDef } from './catalogue.ts';
import type { Resolved } from './precedence.ts';

/** Returns one row of `GET /api/settings`. A secret shows only whether it is set. Blank text counts as unset. */
export function viewSetting(
  row: SettingRowDef<unknown> & { name: SettingName },
  resolved: Resolved<unknown>,
  wrong: string | undefined,
): SettingRow {
  const secret = row.secret === true;
  const problem = resolved.warning ?? wrong;
  const overridden = resolved.persisted !== undefined && !isEqual(resolved.persisted, resolved.value);
  return {
    name: row.name,
    env: row.env ?? null,
    toml: row.toml ?? null,
    value: secret ? null : nullIfBlank(resolved.value),
    source: resolved.source,
    default: secret ? null : nullIfBlank(row.default),
    ...(overridden && !secret ? { persisted: resolved.persisted } : {}),
    secret,
    set: secret && resolved.value !== '',
    live: row.live,
    ...(row.unit === undefined ? {} : { unit: row.unit }),
    help: row.help,
    ...(problem === undefined ? {} : { problem }),
  };
}

const nullIfBlank = (value: unknown): unknown => (value === '' ? null : value);
const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
