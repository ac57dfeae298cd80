import { spawnSync } from 'node:child_process';

const QUIET = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };

/** Runs a command for at most `seconds`. Returns its output, or throws one line that names the failure. */
export function step(what, seconds, command, args, options = {}) {
  const run = spawnSync(command, args, {
    env: QUIET,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    timeout: seconds * 1000,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  if (run.error?.code === 'ETIMEDOUT') throw new Error(`${what} took more than ${seconds} s`);
  if (run.error) throw new Error(`${what}: ${run.error.message}`);
  if (run.status === 0) return run.stdout;
  const lines = run.stderr.split('\n').filter((line) => line.trim() !== '');
  const message =
    lines.find((line) => line.startsWith('E:')) ?? lines.at(-1) ?? run.signal ?? `exit ${run.status}`;
  throw new Error(`${what}: ${message}`);
}

/** Time limit for all downloads of one run together. */
const FETCH_SECONDS = 170;
const started = Date.now();

/** Runs a download step, which is safe to kill at any time. */
export function fetching(what, seconds, command, args, options) {
  const left = Math.ceil(FETCH_SECONDS - (Date.now() - started) / 1000);
  if (left <= 0) throw new Error(`${what}: the ${FETCH_SECONDS} s for downloads have passed`);
  return step(what, Math.min(seconds, left), command, args, options);
}

/** Whether the program is on PATH. */
export const has = (program) =>
  spawnSync('sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' }).status === 0;
