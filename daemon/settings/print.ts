import { effect } from '../contract/settings-table.ts';
import { type SettingRowDef, settingRows } from './catalogue.ts';
import { literal, type TomlValue } from './config-file.ts';

type Row = SettingRowDef<unknown>;

/** Returns an example api.env: every variable of the catalogue, commented out. */
export function exampleEnvFile(rows: readonly Row[] = settingRows()): string {
  const head = [
    '# Keys and overrides of svc-gateway; mode 0600, owned by the service user.',
    '# A name in this file overrides the environment variable of the same name. Removing a line unsets it.',
    '# A variable wins over config.toml. Quoting is as in systemd unit files; nothing is expanded.',
  ];
  const blocks = rows.flatMap((row) => (row.env === undefined ? [] : [envBlock(row)]));
  return `${[head.join('\n'), ...blocks].join('\n\n')}\n`;
}

function envBlock(row: Row): string {
  const value = Array.isArray(row.default) ? row.default.join(',') : String(row.default);
  return `# ${row.help}\n# ${row.type.name}; takes effect ${effect(row)}.\n#${row.env}=${value}`;
}

/** Returns an example config.toml: every table with every key at its default, the keys commented out. */
export function exampleConfigFile(rows: readonly Row[] = settingRows()): string {
  const tables = new Map<string, string[]>();
  const wholeTables: string[] = [];
  for (const row of rows) {
    if (row.toml === undefined) continue;
    const [table, key] = row.toml.split('.') as [string, string?];
    if (key === undefined) {
      wholeTables.push(`# ${row.help}\n# ${row.type.name}; takes effect ${effect(row)}.\n#[${table}]`);
      continue;
    }
    const wins = row.env === undefined ? '' : ` ${row.env} wins over it.`;
    const example = row.example ?? `${key} = ${literal(row.default as TomlValue)}`;
    const block = `# ${row.help}\n# ${row.type.name}; takes effect ${effect(row)}.${wins}\n#${example}`;
    tables.set(table, [...(tables.get(table) ?? []), block]);
  }
  const parts = [...tables].map(([table, blocks]) => [`[${table}]`, ...blocks].join('\n\n'));
  return `${['# Configuration of svc-gateway. Take the # off a line to set its key.', ...parts, ...wholeTables].join('\n\n')}\n`;
}
