import { PassThrough, type Readable, type Writable } from 'node:stream';
import { killGroup, type RunOptions, start } from './run-command.ts';

export interface StreamOptions extends Pick<RunOptions, 'env' | 'path'> {
  /** Ends the program and its children at once. */
  signal: AbortSignal;
  /** Where its input comes from: a stream that the caller writes, an open file, or nothing. */
  input: 'pipe' | 'ignore' | number;
}

/** How a program ended. */
export interface StreamEnd {
  /** Exit status; null when it was killed or never started. */
  code: number | null;
  /** There is no such program, or none that may be run. */
  missing: boolean;
  /** The last of what it complained about. */
  stderrTail: string;
}

export interface StreamedCommand {
  /** Null unless the input is a pipe. Errors of it are not told: the end of the program is. */
  readonly input: Writable | null;
  /** Ends with the program; after a kill nothing more comes, and whoever waits for more gets an error. */
  readonly output: Readable;
  /** Never rejects. */
  readonly ended: Promise<StreamEnd>;
  /** Ends it now; a second time does nothing. */
  kill(): void;
}

/** Characters of complaint that are kept. */
const MAX_STDERR_CHARACTERS = 2_000;

function collectStderr(stream: Readable | null): () => string {
  let text = '';
  stream?.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('utf8')).slice(-MAX_STDERR_CHARACTERS);
  });
  stream?.on('error', () => {});
  return () => text.trim();
}

const notStarted = (missing: boolean): StreamedCommand => ({
  input: null,
  output: new PassThrough().end(),
  ended: Promise.resolve({ code: null, missing, stderrTail: '' }),
  kill: () => {},
});

function follow(child: ReturnType<typeof start>, signal: AbortSignal): StreamedCommand {
  const stderrTail = collectStderr(child.stderr);
  const kill = () => {
    if (child.exitCode === null && child.signalCode === null) killGroup(child);
    child.stdin?.destroy();
    child.stdout?.destroy();
  };
  const ended = new Promise<StreamEnd>((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      resolve({ code: null, missing: error.code === 'ENOENT' || error.code === 'EACCES', stderrTail: '' });
    });
    child.once('close', (code) => resolve({ code, missing: false, stderrTail: stderrTail() }));
  });
  signal.addEventListener('abort', kill, { once: true });
  void ended.then(() => signal.removeEventListener('abort', kill));
  child.stdin?.on('error', () => {});
  child.stdout?.on('error', () => {});
  return { input: child.stdin, output: child.stdout as Readable, ended, kill };
}

/**
 * Runs a program whose input and output flow: no shell, no inherited environment, its own process group, killed as a whole
 * on abort. What it writes is held back by whoever reads it. Never throws: a missing program is an end.
 */
export function streamCommand(
  file: string,
  args: readonly string[],
  options: StreamOptions,
): StreamedCommand {
  if (options.signal.aborted) return notStarted(false);
  try {
    return follow(start(file, args, options, options.input), options.signal);
  } catch {
    return notStarted(true);
  }
}
