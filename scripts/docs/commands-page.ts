import { usageLine } from '../../daemon/cli/choose.ts';
import type { Command } from '../../daemon/cli/command.ts';
import { ABOUT, exitMeanings } from '../../daemon/cli/help.ts';
import { type OptionName, optionRow, optionsOf, optionUsage } from '../../daemon/cli/options.ts';
import { COMMANDS } from '../../daemon/cli/table.ts';
import { SLOT_KEYS } from '../../daemon/contract/slot-keys.ts';
import { row } from './markdown.ts';

const optionLine = (name: OptionName): string => {
  const { help, words } = optionRow(name);
  return `- \`${optionUsage(name)}\`: ${help}${words ? ` (${words.join(', ')})` : ''}`;
};

function section(command: Command): string {
  const details = command.details ? ` ${command.details}` : '';
  const options = (command.options ?? []).map(optionLine);
  return [`### ${command.words}`, '', '```', usageLine(command), '```', '', `${command.summary}.${details}`]
    .concat(options.length === 0 ? [] : ['', ...options])
    .concat('')
    .join('\n');
}

/** Returns the manual of svcctl, from its command table. */
export function commandsPage(): string {
  const keys = Object.entries(SLOT_KEYS).map(([key, { kind, help }]) => row(`\`${key}\``, kind, help));
  const codes = exitMeanings().map(([code, meaning]) => row(String(code), meaning));
  return `<!-- Made by npm run docs from daemon/cli/table.ts. Do not edit. -->

# svcctl

For everyone who uses the command line.

${ABOUT.join('\n')}

Every command takes:

${optionsOf().map(optionLine).join('\n')}

## Exit codes

${row('code', 'meaning')}
${row('---', '---')}
${codes.join('\n')}

## Commands

${COMMANDS.map(section).join('\n')}
## Keys of \`slots create\` and \`slots set\`

Extra arguments, environment and images are set in the slot file only.

${row('key', 'kind', 'meaning')}
${row('---', '---', '---')}
${keys.join('\n')}
`;
}
