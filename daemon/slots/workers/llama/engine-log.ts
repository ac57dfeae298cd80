/** Lines kept for the reason of a failure. */
const KEEP = 20;
const LONGEST = 500;

/** The last lines that the native engine wrote, for the reason of a failure; each is also passed on. */
export class EngineLog {
  readonly #lines: string[] = [];
  readonly #write: (line: string) => void;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  /** Takes one message, cut to 500 characters a line. */
  add(level: string, message: string): void {
    for (const part of message.split('\n', KEEP)) {
      const line = part.trim().slice(0, LONGEST);
      if (line === '') continue;
      this.#lines.push(line);
      if (this.#lines.length > KEEP) this.#lines.shift();
      this.#write(`${level}: ${line}\n`);
    }
  }

  /** The first kept line: llama.cpp names the cause before its consequences. */
  cause(): string | null {
    return this.#lines[0] ?? null;
  }
}
