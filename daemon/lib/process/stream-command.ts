import { PassThrough, type Readable, type Writable } from 'node:stream';
import { killGroup, type RunOptions, start } from './run-command.ts';

export interface StreamOptions extends Pick<RunOptions, 'env' | 'path'> {
  /** Kills the program and its children when it aborts. */
  signal: AbortSignal;
  /** The input: a stream that the caller writes, an open file, or none. */
  input: 'pipe' | 'ignore' | number;
}

/** How a program ended. */
export interface StreamEnd {
  /** Exit status. Null when it was killed or never started. */
  code: number | null;
  /** The program does not exist or cannot be executed. */
  missing: boolean;
  /** The end of its stderr output. */
  stderrTail: string;
}

export interface StreamedCommand {
  /** Null unless the input is a pipe. Its errors are suppressed. The end of the program is reported instead. */
  readonly input: Writable | null;
  /** Ends with the program. After a kill it ends with an error. */
  readonly output: Readable;
  /** Never rejects. */
  readonly ended: Promise<StreamEnd>;
  /** Kills it. Later calls do nothing. */
  kill(): void;
}

/** Maximum characters of stderr that are retained. */
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
 * Runs a program with streamed input and output: no shell, no inherited environment, its own process group,
 * which is killed on abort. A slow reader blocks the program (backpressure). Never throws: a missing program
 * is reported through `ended`.
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
