import type { Client } from './client.ts';
import { CliError, EXIT } from './exit-codes.ts';
import type { Flags, OptionName } from './options.ts';

/** What a command may use. All access to the outside is injected. */
export interface CommandContext {
  /** Reads address and key on first use. */
  readonly client: Client;
  /** The address that `--url` or SVC_URL names; null when it is that of the settings. */
  readonly namedUrl: string | null;
  /** Words after the command's own name. */
  args: readonly string[];
  flags: Flags;
  /** Maximum width of tables in columns. */
  width: number;
  out(text: string): void;
  /** Writes bytes to standard output and resolves when more may be written. Null at a terminal. */
  outBytes: ((bytes: Buffer) => Promise<void>) | null;
  /** Shows or replaces the progress line; null removes it. Does nothing without a terminal. */
  status(text: string | null): void;
  /** Whether `status` is visible. */
  isInteractive: boolean;
  /** Asks a yes-or-no question. Returns null when there is no terminal. */
  confirm(question: string): Promise<boolean | null>;
  /** Lines that were piped in; null when standard input is a terminal. */
  readPiped(): Promise<string | null>;
  /** Asks for one line of text; null at the end of input. */
  prompt(label: string): Promise<string | null>;
  /** Runs a sub-command of the daemon binary and returns its exit code. */
  daemon(args: readonly string[]): Promise<number>;
}

/** What completion offers for an argument: names that the gateway knows, keys of a slot file, or a few words. */
export type CompletionSource = 'slot' | 'model' | 'upstream' | 'slot-setting' | readonly string[];

export interface Command {
  /** The words that select it, for example `auth rotate`. */
  words: string;
  /** Its arguments, as the help shows them; options are added from `options`. */
  usage: string;
  summary: string;
  /** Options in addition to those of every command. */
  options?: readonly OptionName[];
  /** What completion offers for each argument in order; the last one again for all that follow it. */
  completions?: readonly CompletionSource[];
  /** Runs when only the first word is given. */
  isGroupDefault?: true;
  /** More than the summary: what it does, in whole sentences. */
  details?: string;
  /** Answers the exit code. */
  run(context: CommandContext): Promise<number>;
}

/** Returns exactly these arguments, by name. Throws CliError with the usage otherwise. */
export function namedArguments<const N extends readonly string[]>(
  { args }: Pick<CommandContext, 'args'>,
  usage: string,
  ...names: N
): Record<N[number], string> {
  if (args.length !== names.length || args.some((word) => word === '')) {
    throw new CliError(`usage: svcctl ${usage}`, EXIT.usage);
  }
  return Object.fromEntries(names.map((name, index) => [name, args[index]])) as Record<N[number], string>;
}
