// Plain JavaScript for Node 20: runs one program of a test run to its end.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

/** Kills the whole process group of a child: test runners start other programs. */
function killGroup({ pid }, signal) {
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

/** Groups that are running, killed when this process is interrupted. */
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    for (const child of running) killGroup(child, 'SIGKILL');
    process.exit(1);
  });
}

/**
 * Runs a command line. Returns `{status, seconds}`: the exit code, the name of a signal, or a reason. `log` names a file
 * for its output; without it the output goes to this terminal. After `timeoutMs` its process group is killed.
 */
export function run([program, ...args], { cwd, env, log, timeoutMs }) {
  if (log) mkdirSync(dirname(log), { recursive: true });
  const out = log ? openSync(log, 'w') : 'inherit';
  const began = Date.now();
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', out, out], detached: true });
    running.add(child);
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      killGroup(child, 'SIGKILL');
    }, timeoutMs);
    const end = (status) => {
      clearTimeout(limit);
      running.delete(child);
      if (log) closeSync(out);
      resolve({
        status: late ? `no end within ${timeoutMs / 1000} s` : status,
        seconds: (Date.now() - began) / 1000,
      });
    };
    child.once('error', (error) => end(error.message));
    child.once('exit', (code, signal) => end(code ?? signal));
  });
}

/** Runs a command that writes a JSON report to `report`. Returns `{status, seconds, json}`; `json` is null without one. */
export async function runWithReport(command, report, options) {
  rmSync(report, { force: true });
  const ended = await run(command, options);
  const json = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : null;
  return { ...ended, json };
}

/** The last `lines` lines of a log, for a program that left no report. */
export function tailOf(log, lines = 40) {
  if (!log || !existsSync(log)) return '';
  return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-lines).join('\n');
}
