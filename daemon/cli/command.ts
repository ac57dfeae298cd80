import type { Client } from './client.ts';

/** What a command may use: everything that touches the world is handed in. */
export interface CommandContext {
  client: Client;
  /** Words after the command's own name. */
  args: readonly string[];
  flags: Flags;
  out(text: string): void;
  /** Asks a yes-or-no question; null when nobody is there to answer. */
  confirm(question: string): Promise<boolean | null>;
  /** Lines that were piped in; null when standard input is a terminal. */
  piped(): Promise<string | null>;
  /** Asks for one line of text; null at the end of input. */
  prompt(label: string): Promise<string | null>;
  /** Runs a sub-command of the daemon binary and answers its exit code. */
  daemon(args: readonly string[]): Promise<number>;
}

export interface Flags {
  json: boolean;
  force: boolean;
  model: string | undefined;
  path: string | undefined;
}

export interface Command {
  /** The words that select it, for example `auth rotate`. */
  words: string;
  /** Its arguments, as the help shows them. */
  usage: string;
  summary: string;
  /** Answers the exit code. */
  run(context: CommandContext): Promise<number>;
}
