import { CommanderError } from 'commander';
import { CliCommand, type HandlerLoader } from './cli-command.ts';
import { CliError, EXIT } from './exit-codes.ts';
import type { Flags } from './options.ts';
import { createProgram } from './program.ts';

const KEY_LIKE = /^--?(?:[a-z]+-)?(?:key|token|secret|password|auth|bearer)/i;
/** Options that look like one for a key and take no value. */
const NOT_KEYS: ReadonlySet<string> = new Set(['--with-keys']);

/** A command to run, or a text to print. */
export type CommandLine =
  | { readonly load: HandlerLoader; readonly args: readonly string[]; readonly flags: Flags }
  | { readonly text: string; readonly exitCode: number };

/** Reads the command line. Throws CliError; its message never repeats a value, which might be a key. */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  rejectKeys(argv);
  let text = '';
  const program = createProgram((part) => {
    text += part;
  });
  if (argv[0] === 'help') return { text: helpOf(program, argv.slice(1)), exitCode: EXIT.ok };
  let selected: CliCommand = program;
  program.hook('preAction', (_, command) => {
    if (command instanceof CliCommand) selected = command;
  });
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const command = reached(program);
    if (error.code === 'commander.version') return { text, exitCode: EXIT.ok };
    if (error.code === 'commander.helpDisplayed') {
      rejectUnknownCommand(command);
      return { text, exitCode: EXIT.ok };
    }
    if (command === program && error.code === 'commander.help') {
      return { text: program.helpInformation(), exitCode: EXIT.usage };
    }
    throw usageError(command, error);
  }
  return selection(selected);
}

function rejectKeys(argv: readonly string[]): void {
  const words = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  if (!words.some((word) => KEY_LIKE.test(word) && !NOT_KEYS.has(word))) return;
  throw new CliError(
    'a key is never accepted as an argument, where other users could see it; set SVC_ADMIN_KEY instead',
    EXIT.usage,
  );
}

/** Throws CliError for an empty argument, which would address the list instead of one of its members. */
function selection(command: CliCommand): CommandLine {
  const { load, args, registeredArguments } = command;
  if (load === null) throw new CliError(`usage: ${command.usageLine}`, EXIT.usage);
  const empty = registeredArguments.find(({ required }, index) => required && args[index] === '');
  if (empty !== undefined) throw missingArgument(command, empty.name());
  return { load, args, flags: command.optsWithGlobals<Flags>() };
}

/** Returns the help of the command that the words select. Throws CliError for unknown words. */
function helpOf(program: CliCommand, words: readonly string[]): string {
  let command = program;
  for (const word of words) {
    if (command.children.length === 0 || word === 'help') break;
    const found = command.children.find((child) => child.name() === word);
    if (found === undefined) throw unknownCommand(command, word);
    command = found;
  }
  return command.helpInformation();
}

const childOf = (command: CliCommand, word: string | undefined): CliCommand | undefined =>
  command.children.find((child) => child.name() === word);

/** Returns the command or group that the last parse selected by its name. */
function reached(program: CliCommand): CliCommand {
  const child = childOf(program, program.args[0]);
  return child === undefined ? program : reached(child);
}

/** For `svcctl slots laod --help`, which would otherwise print the help of the group. */
function rejectUnknownCommand(command: CliCommand): void {
  const [word] = command.args;
  if (command.children.length === 0 || word === undefined || word.startsWith('-') || word === 'help') return;
  throw unknownCommand(command, word);
}

const seeHelp = (command: CliCommand): string => ` See svcctl ${`${command.path} --help`.trim()}.`;

const missingArgument = (command: CliCommand, name: string): CliError =>
  new CliError(`missing argument <${name}>. Usage: ${command.usageLine}`, EXIT.usage);

/** What commander suggests, as a sentence. */
const suggestionIn = (message: string): string => {
  const words = /\(Did you mean (.*)\?\)/s.exec(message)?.[1];
  return words === undefined ? '' : ` Did you mean ${words}?`;
};

/** Returns the error for a word that is no command of the group. */
function unknownCommand(group: CliCommand, word: string): CliError {
  const names = new CliCommand('svcctl')
    .exitOverride()
    .configureOutput({ writeErr: () => {}, writeOut: () => {} });
  for (const child of group.children) names.command(child.name());
  let suggestion = '';
  try {
    names.parse([word], { from: 'user' });
  } catch (error) {
    suggestion = suggestionIn((error as CommanderError).message);
  }
  const hint =
    suggestion === '' && group.path !== '' ? ` ${group.path} has ${childNames(group)}.` : suggestion;
  const path = `${group.path} ${word}`.trim();
  return new CliError(`there is no command "${path}".${hint}${seeHelp(group)}`, EXIT.usage);
}

const childNames = (group: CliCommand): string => group.children.map((child) => child.name()).join(', ');

/** Returns the error of commander as one line. Values are left out: one of them may be a key. */
function usageError(command: CliCommand, { code, message }: CommanderError): CliError {
  const isGroup = command.children.length > 0;
  const [word = ''] = command.args;
  if (isGroup && (code === 'commander.unknownCommand' || code === 'commander.excessArguments')) {
    return unknownCommand(command, word);
  }
  if (code === 'commander.help') {
    return new CliError(
      `${command.path} needs a command: ${childNames(command)}.${seeHelp(command)}`,
      EXIT.usage,
    );
  }
  if (code === 'commander.unknownOption') {
    const name = /unknown option '(-[^'=\s]*)/.exec(message)?.[1] ?? '';
    const text = `${command.path || 'svcctl'} has no option ${name}.`;
    return new CliError(`${text}${suggestionIn(message)}${seeHelp(command)}`, EXIT.usage);
  }
  if (code === 'commander.missingArgument') {
    return missingArgument(command, /argument '([^']*)'/.exec(message)?.[1] ?? '');
  }
  if (code === 'commander.excessArguments') {
    return new CliError(`too many arguments. Usage: ${command.usageLine}`, EXIT.usage);
  }
  return new CliError(message.replace(/^error: /, ''), EXIT.usage);
}
