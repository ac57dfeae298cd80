import { setTimeout as pause } from 'node:timers/promises';

/** Lines kept to explain a failure. */
const MAX_LINES = 20;
const MAX_LINE_CHARS = 500;
const LINES_LAG_MS = 200;

/** Keeps the last lines of the native engine's log to explain a failure and forwards each line. */
export class EngineLog {
  readonly #lines: string[] = [];
  readonly #write: (line: string) => void;
  #onLine: () => void = () => undefined;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** Adds one message, truncated to 500 characters per line. */
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
   * Returns the first kept line, because llama.cpp logs the cause before its consequences. Lines arrive
   * shortly after the failure, so this waits for one for at most `limitMs`. Null when none arrived.
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
