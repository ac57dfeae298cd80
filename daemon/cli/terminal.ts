import { once } from 'node:events';
import type { Interface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { CliError, EXIT } from './exit-codes.ts';
import type { Flags } from './options.ts';

const MAX_PIPED_CHARS = 1 << 20;
const DEFAULT_WIDTH = 80;
const MIN_WIDTH = 40;
const UNBOUNDED = 100_000;

/** Lines that were piped in; null when standard input is a terminal. Throws CliError beyond 1 MiB. */
export async function readPiped(): Promise<string | null> {
  if (process.stdin.isTTY) return null;
  let text = '';
  for await (const chunk of process.stdin) {
    text += String(chunk);
    if (text.length > MAX_PIPED_CHARS) throw new CliError('more than 1 MiB was piped in', EXIT.usage);
  }
  return text;
}

/** Writes bytes to standard output and resolves when it accepts more. */
export async function writeBytes(bytes: Buffer): Promise<void> {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
}

/**
 * Returns the maximum width of tables: that of COLUMNS or of the terminal, and at least 40. Unlimited with
 * `--wide` and for other programs, which must not receive truncated names.
 */
export function outputWidth(
  { wide }: Pick<Flags, 'wide'>,
  { isTTY, columns }: { isTTY?: boolean; columns?: number },
  variable: string | undefined,
): number {
  if (wide) return UNBOUNDED;
  const named = /^\d{1,5}$/.test(variable ?? '') ? Number(variable) : 0;
  if (named > 0) return Math.max(MIN_WIDTH, named);
  if (!isTTY) return UNBOUNDED;
  return columns ? Math.max(MIN_WIDTH, columns) : DEFAULT_WIDTH;
}

/** The terminal of this process. The module for questions is loaded at the first one. */
export class Terminal {
  #open: Interface | null = null;
  #shown = false;

  async prompt(label: string): Promise<string | null> {
    if (!process.stdin.isTTY) return null;
    const { createInterface } = await import('node:readline/promises');
    this.#open ??= createInterface({ input: process.stdin, output: process.stderr });
    const lines = this.#open;
    const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
    return Promise.race([lines.question(label).catch(() => null), closed]);
  }

  /** Asks for one line and shows nothing of it. Returns null without a terminal and at the end of input. */
  async promptHidden(label: string): Promise<string | null> {
    if (!process.stdin.isTTY) return null;
    const { createInterface } = await import('node:readline/promises');
    const output = new Writable({ write: (_chunk, _encoding, done) => done() });
    // Turns the echo of the terminal off, so the label comes after it.
    const lines = createInterface({ input: process.stdin, output, terminal: true });
    process.stderr.write(label);
    const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
    try {
      return await Promise.race([lines.question('').catch(() => null), closed]);
    } finally {
      lines.close();
      process.stderr.write('\n');
    }
  }

  /** Whether standard error is a terminal. */
  get isInteractive(): boolean {
    return process.stderr.isTTY === true;
  }

  /** Replaces the status line on standard error; null removes it. */
  status(text: string | null): void {
    if ((text === null && !this.#shown) || !this.isInteractive) return;
    process.stderr.write(`\r\u001b[K${text ?? ''}`);
    this.#shown = text !== null;
  }

  close(): void {
    this.status(null);
    this.#open?.close();
  }
}
