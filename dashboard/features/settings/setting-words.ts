import type { SettingRow } from '../../../daemon/contract/system.ts';
import type { FieldKind } from '../../ui/form/draft.ts';

const TABLES: Readonly<Record<string, string>> = {
  server: 'Server',
  security: 'Security',
  models: 'Models',
  slots: 'Slots',
  containers: 'Containers',
  upstreams: 'Upstreams',
  requests: 'Requests',
  log: 'Log',
  companion: 'Companion chat',
};
/** Where rows without a place in config.toml stand. */
const NO_TABLE = 'Environment only';

/** The name that people write: its key in config.toml, else its variable. */
export const keyOfSetting = (row: SettingRow): string => row.toml ?? row.env ?? row.name;

function tableOf(row: SettingRow): string {
  if (row.toml === null) return NO_TABLE;
  const [table = ''] = row.toml.split('.');
  return TABLES[table] ?? table;
}

/** Settings by table of config.toml, in the order of the catalogue. */
export function byTable(rows: readonly SettingRow[]): { title: string; rows: SettingRow[] }[] {
  const groups = new Map<string, SettingRow[]>();
  for (const row of rows) {
    const title = tableOf(row);
    groups.set(title, [...(groups.get(title) ?? []), row]);
  }
  return [...groups].map(([title, own]) => ({ title, rows: own }));
}

/** A value in words. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ');
  return String(value);
}

/** How a setting is typed, by the kind of its default. */
export function kindOfSetting(row: Pick<SettingRow, 'default'>): FieldKind {
  if (typeof row.default === 'boolean') return 'flag';
  if (typeof row.default === 'number') return 'number';
  return Array.isArray(row.default) ? 'list' : 'text';
}

/** Why a setting can't be changed here; null when it can. */
export type SettingLock = 'secret' | 'enforcement' | 'env' | 'no_file' | null;

export function lockOfSetting(row: SettingRow): SettingLock {
  if (row.secret) return 'secret';
  if (row.name === 'requireAuth') return 'enforcement';
  if (row.source === 'env') return 'env';
  return row.toml === null ? 'no_file' : null;
}

/** Whether a typed text or the choice "only changed" leaves a row on the page. */
export function showsSetting(row: SettingRow, q: string, changed: boolean): boolean {
  const special = row.source !== 'default' || row.problem !== undefined || row.running !== undefined;
  if (changed && !special) return false;
  const text = [row.name, row.env, row.toml, row.help].join(' ').toLowerCase();
  return q
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
