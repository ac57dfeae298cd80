import type { Command } from './command.ts';
import { CliError, EXIT } from './exit-codes.ts';
import { type OptionName, optionRow, optionsOf } from './options.ts';

const starts = ({ words }: Command, given: readonly string[]): boolean =>
  words.split(' ').every((word, index) => given[index] === word);

/** Commands whose name begins with these words. */
export const groupOf = (commands: readonly Command[], words: readonly string[]): Command[] =>
  commands.filter(({ words: name }) => `${name} `.startsWith(`${words.join(' ')} `));

/** Selects the command with the longest matching name, and its arguments. */
export function selectCommand(
  commands: readonly Command[],
  words: readonly string[],
): { command: Command; args: readonly string[] } {
  const [found] = commands
    .filter((command) => starts(command, words))
    .sort((a, b) => b.words.split(' ').length - a.words.split(' ').length);
  if (found) return { command: found, args: argumentsOf(found, words) };
  const group = groupOf(commands, words.slice(0, 1));
  const bare = words.length === 1 ? group.find((command) => command.isGroupDefault) : undefined;
  if (bare) return { command: bare, args: [] };
  const near = group.length === 0 ? '' : ` ${words[0]} has ${group.map(lastWord).join(', ')}.`;
  throw new CliError(`there is no command "${words.join(' ')}".${near} See svcctl --help.`, EXIT.usage);
}

/**
 * Returns the words after the command name. Throws CliError for unexpected words, which would otherwise be
 * ignored.
 */
function argumentsOf({ words: name, usage }: Command, words: readonly string[]): readonly string[] {
  const args = words.slice(name.split(' ').length);
  if (usage !== '' || args.length === 0) return args;
  // The words are not repeated: one of them may be a key.
  throw new CliError(`usage: svcctl ${name}`, EXIT.usage);
}

const lastWord = ({ words }: Command): string => words.split(' ').at(-1) ?? '';

/** Refuses options that the command does not accept, which would otherwise be ignored. Throws CliError. */
export function rejectUnknownOptions(command: Command, given: ReadonlySet<OptionName>): void {
  const takes = new Set(optionsOf(command.options));
  const unknown = [...given].find((name) => !takes.has(name));
  if (unknown === undefined) return;
  const own = (command.options ?? []).map((name) => `--${name}`);
  const known = own.length === 0 ? '' : ` It takes ${own.join(', ')}.`;
  throw new CliError(`svcctl ${command.words} takes no --${unknown}.${known}`, EXIT.usage);
}

/** The arguments and options of a command in one line. */
export function usageLine(command: Command): string {
  const options = (command.options ?? []).map((name) => {
    const { value } = optionRow(name);
    return `[--${name}${value ? ` ${value}` : ''}]`;
  });
  return ['svcctl', command.words, command.usage, ...options].filter((part) => part !== '').join(' ');
}
