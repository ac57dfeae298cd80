import type { Argument, Option } from 'commander';
import { ABOUT } from '../../daemon/cli/about.ts';
import type { CliCommand } from '../../daemon/cli/cli-command.ts';
import { exitMeanings } from '../../daemon/cli/exit-codes.ts';
import { createProgram } from '../../daemon/cli/program.ts';
import { SLOT_KEYS } from '../../daemon/contract/slot-keys.ts';
import { row } from './markdown.ts';

const choices = (values: readonly string[] | undefined): string =>
  values === undefined ? '' : ` (${values.join(', ')})`;

const argumentLine = (argument: Argument): string =>
  `- \`${argument.name()}\`: ${argument.description}${choices(argument.argChoices)}`;

const optionLine = ({ flags, description, argChoices }: Option): string =>
  `- \`${flags}\`: ${description}${choices(argChoices)}`;

function section(command: CliCommand): string {
  const list = [...command.registeredArguments.map(argumentLine), ...command.options.map(optionLine)];
  return [`### ${command.path}`, '', '```', command.usageLine, '```', '', command.description()]
    .concat(list.length === 0 ? [] : ['', ...list])
    .concat('', 'Examples:', '', '```sh', ...command.exampleLines, '```', '')
    .join('\n');
}

/** Returns the manual of svcctl, from its tree of commands. */
export function commandsPage(): string {
  const program = createProgram();
  const keys = Object.entries(SLOT_KEYS).map(([key, { kind, help }]) => row(`\`${key}\``, kind, help));
  const codes = exitMeanings().map(([code, meaning]) => row(String(code), meaning));
  return `<!-- Made by npm run docs from daemon/cli/tree. Do not edit. -->

# svcctl

For everyone who uses the command line.

${ABOUT.join('\n')}

Every command takes:

${program.createHelp().visibleOptions(program).map(optionLine).join('\n')}

## Exit codes

${row('code', 'meaning')}
${row('---', '---')}
${codes.join('\n')}

## Commands

${program.leaves.map(section).join('\n')}
## Keys of \`slots create\` and \`slots set\`

Extra arguments, environment and images are set in the slot file only.

${row('key', 'kind', 'meaning')}
${row('---', '---', '---')}
${keys.join('\n')}
`;
}
