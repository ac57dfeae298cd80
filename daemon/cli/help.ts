import { groupOf, usageLine } from './choose.ts';
import type { Command } from './command.ts';
import { CliError, EXIT, EXIT_MEANINGS } from './exit-codes.ts';
import { type OptionName, optionRow, optionsOf, optionUsage } from './options.ts';

const USAGE_WIDTH = 32;
const LINE_WIDTH = 78;
const EXITS = Object.entries(EXIT);

const lineOf = ({ words, usage, summary }: Command): string => {
  const left = `${words} ${usage}`.trim();
  return left.length <= USAGE_WIDTH
    ? `  ${left.padEnd(USAGE_WIDTH)} ${summary}`
    : `  ${left}\n  ${''.padEnd(USAGE_WIDTH)} ${summary}`;
};

/** What svcctl is, where it finds the gateway and which keys it sends: the beginning of its manuals, in lines of Markdown. */
export const ABOUT: readonly string[] = [
  'A thin client of the HTTP API. It finds the gateway by `--url`, else `SVC_URL`, else the bind address of',
  '`api.env` and `config.toml`. The key is `SVC_ADMIN_KEY`, then `SVC_CLIENT_KEY` of the environment, then those of',
  "`api.env`; it is never taken as an argument. `api.env` belongs to this machine's gateway: where `--url` or `SVC_URL` names",
  'another host than loopback, an address or the name of this machine, or where the port is held by a user who is neither root,',
  'nor you, nor the owner of `api.env` or of the state, only keys of the environment are sent. Tables are cut to the terminal, 80',
  'columns where there is none; `--wide` shows whole cells, and `--json` prints what the API answers.',
];

/** All commands, one line each, and the common options. Fits 80 columns. */
export function overview(commands: readonly Command[]): string {
  return `svcctl: command-line client of svc-gateway

${commands.map(lineOf).join('\n')}

Options: --json (machine-readable), --help (of a command too), --version
         --url ADDRESS (else SVC_URL, else the configured address)
Keys:    SVC_ADMIN_KEY, SVC_CLIENT_KEY, then api.env; never an argument
Exit: ${EXITS.map(([name, code]) => `${code} ${name}`).join(', ')}
`;
}

const optionLine = (name: OptionName): string => {
  const { help, words } = optionRow(name);
  return `  ${optionUsage(name).padEnd(20)} ${help}${words ? ` (${words.join(', ')})` : ''}`;
};

/** A text in lines that fit, broken between words. */
function wrapped(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > LINE_WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.join('\n');
}

/** Wraps the usage line. An option stays together with its value. */
const usage = (command: Command): string =>
  wrapped(usageLine(command).replace(/\[[^\]]*\]/g, (part) => part.replaceAll(' ', '\u00a0'))).replaceAll(
    '\u00a0',
    ' ',
  );

/** The help of one command. */
function one(command: Command): string {
  const details = command.details ? `${wrapped(command.details)}\n\n` : '';
  const options = optionsOf(command.options).map(optionLine).join('\n');
  return `${usage(command)}\n\n${command.summary}.\n${details === '' ? '\n' : details}${options}\n`;
}

/**
 * Returns the help for the words: overall, of a group, or of one command. Throws CliError for unknown words.
 */
export function help(commands: readonly Command[], words: readonly string[]): string {
  if (words.length === 0) return overview(commands);
  const exact = commands.find((command) => command.words === words.join(' '));
  const group = groupOf(commands, words);
  if (exact && group.length === 1) return one(exact);
  if (group.length > 0) return `${group.map(lineOf).join('\n')}\n`;
  if (words.length > 1) return help(commands, words.slice(0, -1));
  throw new CliError(`there is no command "${words.join(' ')}". See svcctl --help.`, EXIT.usage);
}

/** The exit codes with their meanings. */
export const exitMeanings = (): [code: number, meaning: string][] =>
  EXITS.map(([name, code]) => [code, EXIT_MEANINGS[name as keyof typeof EXIT]]);
