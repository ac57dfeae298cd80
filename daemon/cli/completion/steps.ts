import type { Argument, Option } from 'commander';
import { SLOT_KEYS } from '../../contract/slot-keys.ts';
import type { CliCommand } from '../cli-command.ts';

/** Candidates: fixed words, or names that a svcctl command fetches from the gateway. */
export interface Candidates {
  readonly fixed: readonly string[];
  readonly query: string | null;
}

/** One step of a command line: the words so far that name a command or a group, and what may follow. */
export interface Step {
  /** `` at the start, then `slots`, `slots load`. */
  readonly path: string;
  /** Indexed by the number of arguments so far. The last entry applies to all further arguments. */
  readonly words: readonly Candidates[];
  readonly options: readonly Option[];
}

const NOTHING: Candidates = { fixed: [], query: null };
const fixed = (words: readonly string[]): Candidates => ({ fixed: words, query: null });

/** Candidates by the name of an argument or option. */
const NAMED: Readonly<Record<string, Candidates>> = {
  slot: { fixed: [], query: 'slots list --quiet' },
  model: { fixed: [], query: 'models list --quiet' },
  upstream: { fixed: [], query: 'upstreams list --quiet' },
  'key=value': fixed(Object.keys(SLOT_KEYS).map((key) => `${key}=`)),
};

const candidatesOf = (argument: Argument): Candidates =>
  argument.argChoices === undefined ? (NAMED[argument.name()] ?? NOTHING) : fixed(argument.argChoices);

const namesOf = (commands: readonly CliCommand[]): string[] => commands.map((command) => command.name());

/** The options that a command accepts, its own first. */
function optionsOf(command: CliCommand): Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

function stepOf(command: CliCommand): Step {
  const { children, path, registeredArguments: args } = command;
  const options = optionsOf(command);
  if (children.length > 0) return { path, words: [fixed(namesOf(children)), NOTHING], options };
  const words = args.map(candidatesOf);
  return { path, words: args.at(-1)?.variadic ? words : [...words, NOTHING], options };
}

const below = (command: CliCommand): CliCommand[] =>
  command.children.flatMap((child) => [child, ...below(child)]);

/** Returns every step of a command line, from the tree of commands. */
export function steps(program: CliCommand): Step[] {
  const names = namesOf(program.children);
  const options = optionsOf(program);
  return [
    { path: '', words: [fixed([...names, 'help']), NOTHING], options },
    { path: 'help', words: [fixed(names), NOTHING], options },
    ...below(program).map(stepOf),
  ];
}

/** All options of the program, each once. */
function everyOption(program: CliCommand): Option[] {
  const found = [program, ...below(program)].flatMap(optionsOf);
  return [...new Map(found.map((option) => [option.long ?? option.flags, option])).values()];
}

/** The forms of an option: `--lines`, `-n`. */
export const formsOf = ({ long, short }: Option): string[] =>
  [long, short].filter((form) => form !== undefined);

/** Options that are followed by a value. */
export const valueOptions = (program: CliCommand): string[] =>
  everyOption(program)
    .filter(({ required }) => required)
    .flatMap(formsOf);

/** Candidates for the value of an option. */
export const optionWords = (program: CliCommand): { option: string; words: Candidates }[] =>
  everyOption(program).flatMap(({ long, argChoices }) => {
    if (long === undefined) return [];
    const words = argChoices === undefined ? NAMED[long.replace(/^--/, '')] : fixed(argChoices);
    return words === undefined ? [] : [{ option: long, words }];
  });
