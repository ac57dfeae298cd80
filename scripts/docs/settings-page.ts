import { effect } from '../../daemon/contract/settings-table.ts';
import { type SettingRowDef, settingRows } from '../../daemon/settings/catalogue.ts';
import { row } from './markdown.ts';

type Setting = SettingRowDef<unknown>;

const code = (text: string | undefined): string => (text === undefined ? '' : `\`${text}\``);

/** Returns the default as a user would write it, or words for an empty value. */
function defaultText({ default: value, secret }: Setting): string {
  if (secret || value === '') return 'not set';
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return 'none';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : code(value.join(', '));
  return code(String(value));
}

const line = (setting: Setting): string =>
  row(
    code(setting.toml),
    code(setting.env),
    setting.type.name,
    defaultText(setting),
    effect(setting),
    setting.help,
  );

/** Every setting, in the order of the catalogue. */
export function settingsPage(): string {
  return `<!-- Made by npm run docs from daemon/settings/catalogue.ts. Do not edit. -->

# Settings

For everyone who configures a gateway. \`svcctl config\` prints the same table with the current value and its source.

- Set a value in \`config.toml\` (\`table.key\`), or as an environment variable in \`api.env\`. The variable wins.
- A bad value in the environment gives the default and a warning. A bad line in \`config.toml\` leaves the last good value.
- The dashboard and \`PUT /api/settings\` write \`config.toml\`. Keys and tokens belong in \`api.env\` only.

${row('config.toml', 'variable', 'kind', 'default', 'takes effect', 'meaning')}
${row('---', '---', '---', '---', '---', '---')}
${settingRows().map(line).join('\n')}
`;
}
