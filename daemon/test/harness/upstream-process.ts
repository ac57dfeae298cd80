import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./upstream-program.ts', import.meta.url));

/** Where a server runs. */
export interface UpstreamLocation {
  /** The words before the program, default none. */
  readonly prefix?: readonly string[];
  /** The address on which it listens, default loopback. */
  readonly host?: string;
}

/** A server of chats in a separate process, which can be suspended like a machine. */
export class UpstreamProcess {
  readonly url: string;
  /** The `user` of each request that it received, in order. */
  readonly received: string[];
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, origin: string, received: string[]) {
    this.#child = child;
    this.url = origin;
    this.received = received;
  }

  /** Starts a server that lists `models` and takes `ms` milliseconds for each answer and token. */
  static async start(
    models: readonly string[],
    ms = 20,
    { prefix = [], host = '127.0.0.1' }: UpstreamLocation = {},
  ): Promise<UpstreamProcess> {
    const words = [...prefix, process.execPath, PROGRAM, models.join(','), String(ms), host];
    const [program = '', ...args] = words;
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout });
    const [port] = (await once(lines, 'line')) as [string];
    const received: string[] = [];
    lines.on('line', (line) => received.push(line));
    return new UpstreamProcess(child, `http://${host}:${port}`, received);
  }

  /** Stops it like a suspended machine: its kernel still accepts connections, and nothing is answered. */
  suspend(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }
}
