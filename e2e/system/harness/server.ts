import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../../daemon/lib/testing/until.ts';
import { freePort } from '../../../daemon/slots/runners/ports.ts';
import { markedProcesses } from './marked-processes.ts';
import { killGroup } from './program.ts';

const MARK = 'SVC_TEST_SERVER';
const STOP_LIMIT_MS = 30_000;
const MAX_OUTPUT = 100_000;

export interface ServerOptions {
  /** The program and its arguments for a port and an empty folder, which is also its home. */
  readonly command: (port: number, folder: string) => readonly string[];
  readonly env?: (folder: string) => Readonly<Record<string, string>>;
  /** A path that answers 200 when the server is ready. */
  readonly ready: string;
  readonly limitMs: number;
}

export interface Server {
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  /** The end of its standard output and error. */
  output(): string;
  /** Sends SIGTERM, kills what remains of all its processes, and removes its folder. */
  stop(): Promise<void>;
}

/** Starts a server of another project on a free port of the loopback address and waits until it is ready. */
export async function startServer({ command, env, ready, limitMs }: ServerOptions): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-server-'));
  const port = await freePort();
  const [program = '', ...args] = command(port, folder);
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, [MARK]: folder, ...env?.(folder) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-MAX_OUTPUT);
    });
  }
  let startError: Error | null = null;
  child.once('error', (error) => {
    startError = error;
  });
  const hasEnded = () => startError !== null || child.exitCode !== null || child.signalCode !== null;
  const running = () => markedProcesses(`${MARK}=${folder}`);
  const stop = async () => {
    if (!hasEnded()) child.kill('SIGTERM');
    try {
      await until(() => hasEnded() && running().length === 0, `${program} to end`, STOP_LIMIT_MS);
    } catch {
      killGroup(child.pid);
      for (const pid of running()) process.kill(pid, 'SIGKILL');
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const isReady = async () => {
    if (hasEnded()) throw new Error(`${program} has ended with ${startError ?? child.exitCode}: ${output}`);
    const answer = await fetch(`http://127.0.0.1:${port}${ready}`, {
      signal: AbortSignal.timeout(5_000),
    }).catch(() => null);
    await answer?.body?.cancel();
    return answer?.status === 200;
  };
  try {
    await until(isReady, `${program} to be ready`, limitMs);
  } catch (error) {
    await stop();
    throw new Error(`${String(error)}\n${output.slice(-5_000)}`);
  }
  return { port, pid: Number(child.pid), folder, output: () => output, stop };
}
