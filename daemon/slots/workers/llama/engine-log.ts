import { setTimeout as pause } from 'node:timers/promises';

/** Lines kept for the reason of a failure. */
const MAX_LINES = 20;
const MAX_LINE_CHARS = 500;
const LINES_LAG_MS = 200;

/** The last lines that the native engine wrote, for the reason of a failure; each is also passed on. */
export class EngineLog {
  readonly #lines: string[] = [];
  readonly #write: (line: string) => void;
  #onLine: () => void = () => undefined;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** Takes one message, cut to 500 characters a line. */
  add(level: string, message: string): void {
    for (const part of message.split('\n', MAX_LINES)) {
      const line = part.trim().slice(0, MAX_LINE_CHARS);
      if (line === '') continue;
      this.#lines.push(line);
      if (this.#lines.length > MAX_LINES) this.#lines.shift();
      this.#onLine();
      this.#write(`${level}: ${line}\n`);
    }
  }

  /**
   * The first kept line: llama.cpp names the cause before its consequences. Lines come a moment after the failure that they
   * speak of, so one is waited for, `limitMs` at most; null when none came.
   */
  async cause(limitMs = LINES_LAG_MS): Promise<string | null> {
    if (this.#lines.length === 0) {
      const timer = new AbortController();
      const first = new Promise<void>((resolve) => {
        this.#onLine = resolve;
      });
      await Promise.race([first, pause(limitMs, undefined, { signal: timer.signal }).catch(() => undefined)]);
      timer.abort();
    }
    return this.#lines[0] ?? null;
  }
}
