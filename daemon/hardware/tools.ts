import { DEFAULT_PATH, type RunResult, runCommand } from '../lib/process/run-command.ts';
import { noAnswer } from './guarded.ts';

/** Runs a vendor tool with the probe's limits; never throws. */
export type Tool = (file: string, args: readonly string[]) => Promise<RunResult>;

const TIMEOUT_MS = 3000;
const MAX_BYTES = 1 << 20;
/** Where vendors put their tools beside the usual folders. */
const VENDOR_FOLDERS = [
  '/opt/rocm/bin',
  '/opt/xilinx/xrt/bin',
  '/usr/lib/wsl/lib',
  '/run/current-system/sw/bin',
];

export const TOOL_PATH = [DEFAULT_PATH, ...VENDOR_FOLDERS].join(':');

/** What a tool answers whose last process hangs in its driver. */
const STUCK: RunResult = { code: null, stdout: '', stderr: '', timedOut: true, missing: false };

/** The tools of this machine. One whose last process could not be ended is not started again before that is gone. */
export function tools(path: string, signal?: AbortSignal, timeoutMs = TIMEOUT_MS): Tool {
  const stuck = new Set<string>();
  return async (file, args) => {
    if (stuck.has(file)) return STUCK;
    const result = await runCommand(file, args, { path, signal, timeoutMs, maxBytes: MAX_BYTES });
    if (result.leftBehind !== undefined) {
      stuck.add(file);
      void result.leftBehind.then(() => stuck.delete(file));
    }
    return result;
  };
}

/** What went wrong in one line, or null: it ran and succeeded, or it is not installed, which is ordinary. */
export function toolProblem(result: RunResult): string | null {
  if (result.missing || result.code === 0) return null;
  if (result.timedOut) return noAnswer(TIMEOUT_MS);
  const firstLine = `${result.stdout}\n${result.stderr}`.split('\n').find((line) => line.trim() !== '');
  return firstLine?.trim().slice(0, 300) ?? `ended with status ${result.code ?? 'unknown'}`;
}

/** Parses a tool's JSON; null when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A record of a tool's JSON, or an empty one. */
export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** A number that tools print as a number or as a string; anything else (`N/A`, `[Not Supported]`) is null. */
export function looseNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !/^\s*-?\d+(\.\d+)?\s*$/.test(value)) return null;
  return Number(value);
}
