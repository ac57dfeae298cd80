import { Argument, Option } from 'commander';
import { CliError, EXIT } from './exit-codes.ts';

/** The options on the command line. Absent ones are undefined. */
export interface Flags {
  readonly allowUnsupported?: boolean;
  readonly before?: string;
  readonly days?: string;
  readonly evidence?: boolean;
  readonly follow?: boolean;
  readonly force?: boolean;
  readonly format?: string;
  readonly json?: boolean;
  readonly language?: string;
  readonly level?: string;
  readonly limit?: string;
  readonly lines?: string;
  readonly model?: string;
  readonly once?: boolean;
  readonly output?: string;
  readonly path?: string;
  readonly allowFallback?: boolean;
  readonly projector?: boolean;
  readonly quiet?: boolean;
  readonly reset?: boolean;
  readonly revision?: string;
  readonly selfTest?: boolean;
  readonly sha256?: string;
  readonly size?: string;
  readonly state?: string;
  readonly update?: string;
  readonly url?: string;
  readonly voice?: string;
  /** False with `--no-wait`. */
  readonly wait?: boolean;
  readonly wide?: boolean;
  readonly withKeys?: boolean;
}

/** Returns a parser that throws CliError for other values. The message does not repeat the value, which may be a key. */
const oneOf = (what: string, values: readonly string[]) => (value: string) => {
  if (values.includes(value)) return value;
  throw new CliError(`${what} takes ${values.join(', ')}`, EXIT.usage);
};

/** An argument with a fixed set of values. */
export const choiceArgument = (name: string, help: string, values: readonly string[]): Argument =>
  new Argument(name, help).choices(values).argParser(oneOf(name, values));

const choiceOption = (flags: string, help: string, values: readonly string[]): Option => {
  const option = new Option(flags, help).choices(values);
  return option.argParser(oneOf(option.long ?? flags, values));
};

/** An option that takes a whole number. The value stays text, for the query of a request. */
function integerOption(flags: string, help: string, { min, max }: { min: number; max: number }): Option {
  const option = new Option(flags, help);
  return option.argParser((value: string) => {
    if (/^\d{1,9}$/.test(value) && Number(value) >= min && Number(value) <= max) return value;
    throw new CliError(`${option.long} takes a whole number from ${min} to ${max}`, EXIT.usage);
  });
}

/** Options that several commands have. */
export const wide = () => new Option('--wide', 'Do not shorten columns to the width of the terminal');
export const quiet = () => new Option('-q, --quiet', 'Print names only');
export const force = (help = 'Do not ask for confirmation') => new Option('--force', help);
export const overwrite = () => force('Overwrite an existing file');
export const model = (help = 'Name of a slot or id of a model') => new Option('--model <model>', help);
export const output = (help = 'File to write') => new Option('-o, --output <file>', help);
export const follow = () => new Option('-f, --follow', 'Follow new lines until Ctrl-C');
export const noWait = () => new Option('--no-wait', 'Return as soon as the action has started');
export const wait = () => new Option('--wait', 'Wait for the outcome (default)');
export const lines = () =>
  integerOption('-n, --lines <n>', 'Number of past lines, at most 1000', { min: 0, max: 1_000 });
export const days = () =>
  integerOption('--days <n>', 'Days back, today included, at most 366', { min: 1, max: 366 });
export const limit = () => integerOption('--limit <n>', 'Rows, at most 1000', { min: 1, max: 1_000 });
export const level = () =>
  choiceOption('--level <level>', 'Least severe level to show', ['debug', 'info', 'warn', 'error']);
export const state = () => choiceOption('--state <state>', 'Only these requests', ['running', 'done']);
