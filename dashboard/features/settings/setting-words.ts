import { exactByteSize } from '../../../daemon/contract/byte-size.ts';
import { mapLines } from '../../../daemon/contract/model-map-text.ts';
import type { SettingRow } from '../../../daemon/contract/system.ts';
import type { FieldKind } from '../../ui/form/draft.ts';

const TABLES: Readonly<Record<string, string>> = {
  server: 'Server',
  security: 'Security',
  models: 'Models',
  aliases: 'Models',
  presets: 'Models',
  slots: 'Slots',
  containers: 'Containers',
  upstreams: 'Upstreams',
  fallbacks: 'Fallbacks',
  requests: 'Requests',
  log: 'Log',
  companion: 'Companion chat',
};
/** Group of settings that are not in config.toml. */
const NO_TABLE = 'Secrets and environment';

/** The key in config.toml, else the environment variable. */
export const keyOfSetting = (row: SettingRow): string => row.toml ?? row.env ?? row.name;

function tableOf(row: SettingRow): string {
  if (row.toml === null) return NO_TABLE;
  const [table = ''] = row.toml.split('.');
  return TABLES[table] ?? table;
}

/** Groups settings by table of config.toml, in catalogue order. */
export function byTable(rows: readonly SettingRow[]): { title: string; rows: SettingRow[] }[] {
  const groups = new Map<string, SettingRow[]>();
  for (const row of rows) {
    const title = tableOf(row);
    groups.set(title, [...(groups.get(title) ?? []), row]);
  }
  return [...groups].map(([title, own]) => ({ title, rows: own }));
}

/** Formats a value as text, sizes with a unit and without rounding. */
export function valueText(value: unknown, unit?: SettingRow['unit']): string {
  if (unit === 'bytes' && typeof value === 'number') return exactByteSize(value);
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object' && !Array.isArray(value)) return entriesText(value);
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return String(value);
}

/** Names the entries of a table, with their value where it is a text or a list. */
const entriesText = (table: object): string => mapLines(table).join('; ') || 'none';

/** Field kind of a setting, derived from its default. */
export function kindOfSetting(row: Pick<SettingRow, 'default' | 'unit'>): FieldKind {
  if (row.unit === 'bytes') return 'text';
  if (typeof row.default === 'boolean') return 'flag';
  if (typeof row.default === 'number') return 'number';
  if (typeof row.default === 'object' && row.default !== null)
    return Array.isArray(row.default) ? 'list' : 'map';
  return 'text';
}

/** The help of the field of a setting, with the form of its lines. */
export const fieldHelp = (row: SettingRow): string =>
  kindOfSetting(row) === 'map' ? `${row.help} One line per model: model = first, second` : row.help;

/** Why a setting cannot be changed here; null when it can. */
export type SettingLock = 'secret' | 'enforcement' | 'env' | 'no_file' | 'table' | null;

export function lockOfSetting(row: SettingRow): SettingLock {
  if (row.secret) return 'secret';
  if (row.name === 'requireAuth') return 'enforcement';
  if (row.source === 'env') return 'env';
  if (row.toml === null) return 'no_file';
  return row.toml.includes('.') ? null : 'table';
}

/** Whether a setting matches the search and the "changed only" filter. */
export function showsSetting(row: SettingRow, q: string, changed: boolean): boolean {
  const special = row.source !== 'default' || row.problem !== undefined || row.running !== undefined;
  if (changed && !special) return false;
  const text = [row.name, row.env, row.toml, row.help].join(' ').toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
