import type { Client } from './client.ts';
import type { Flags } from './options.ts';

/** What a command may use. All access to the outside is injected. */
export interface CommandContext {
  /** Reads address and key on first use. */
  readonly client: Client;
  /** The address that `--url` or SVC_URL names; null when it is that of the settings. */
  readonly namedUrl: string | null;
  readonly flags: Flags;
  /** Maximum width of tables in columns. */
  readonly width: number;
  /** Maximum width of the progress line in columns. */
  readonly statusWidth: number;
  out(text: string): void;
  /** Writes bytes to standard output and resolves when more may be written. Null at a terminal. */
  readonly outBytes: ((bytes: Buffer) => Promise<void>) | null;
  /** Shows or replaces the progress line; null removes it. Does nothing without a terminal. */
  status(text: string | null): void;
  /** Whether `status` is visible. */
  readonly isInteractive: boolean;
  /** Asks a yes-or-no question. Returns null when there is no terminal. */
  confirm(question: string): Promise<boolean | null>;
  /** Lines that were piped in; null when standard input is a terminal. */
  readPiped(): Promise<string | null>;
  /** Asks for one line of text; null at the end of input. */
  prompt(label: string): Promise<string | null>;
  /** Asks for one line that the terminal does not show; null without a terminal. */
  promptHidden(label: string): Promise<string | null>;
  /** Runs a sub-command of the daemon binary and returns its exit code. */
  daemon(args: readonly string[]): Promise<number>;
}

/** Runs a command with its arguments and returns the exit code. Optional arguments may be absent. */
export type Handler = (context: CommandContext, ...args: string[]) => Promise<number>;
