import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Gateway } from './gateway.ts';

const program = join(import.meta.dirname, '..', '..', '..', 'scripts', 'svcctl');

export interface RunResult {
  code: number | null;
  out: string;
  err: string;
  json<T = Record<string, unknown>>(): T;
}

export interface RunOptions {
  env?: Record<string, string>;
  /** Standard input; empty by default. */
  input?: string;
  /** Run in a pseudo-terminal. `input` has the lines to type; `out` contains both outputs. */
  terminal?: boolean;
  /** Called with `out` each time it grows. */
  onOutput?: (out: string) => void;
  /** User to run as; needs root. */
  uid?: number;
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

function start(args: readonly string[], options: RunOptions): ChildProcessWithoutNullStreams {
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...options.env };
  const user = options.uid === undefined ? {} : { uid: options.uid, gid: options.uid };
  if (!options.terminal) return spawn(program, [...args], { env, ...user });
  const line = [program, ...args].map(quoted).join(' ');
  return spawn('script', ['-qec', line, '/dev/null'], { env: { ...env, SHELL: '/bin/sh' } });
}

/** Runs the real `svcctl` until it ends. */
export function svcctl(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const child = start(args, options);
  let [out, err] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    options.onOutput?.(out);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.stdin.on('error', () => {});
  if (options.terminal) typeAtPrompts(child, options.input ?? '');
  else child.stdin.end(options.input ?? '');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err, json: () => JSON.parse(out) }));
  });
}

/** Types one line of `input` at each prompt, then ends the input. */
function typeAtPrompts(child: ChildProcessWithoutNullStreams, input: string): void {
  const lines = input.split('\n');
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    if (!/(\[y\/N\] |> |: )$/.test(shown.replace(/\u001b\[[0-9;?]*[a-zA-Z]/g, ''))) return;
    shown = '';
    const line = lines.shift();
    child.stdin.write(line === undefined || line === '' ? '\u0004' : `${line}\r`);
  });
}

/** The environment with which svcctl uses a gateway: its address, and its home folder for the key. */
export const envFor = (gateway: Gateway): Record<string, string> => ({
  SVC_URL: gateway.url,
  SVC_HOME: gateway.home,
});
