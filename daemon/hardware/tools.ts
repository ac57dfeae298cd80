import { DEFAULT_PATH, type RunResult, runCommand } from '../lib/process/run-command.ts';
import { noAnswer } from './run-guarded.ts';

/** Runs a vendor tool with the probe's limits. Never throws. */
export type Tool = (file: string, args: readonly string[]) => Promise<RunResult>;

const TIMEOUT_MS = 3000;
const MAX_BYTES = 1 << 20;
/** Vendor folders for tools in addition to the search path. */
const VENDOR_FOLDERS = [
  '/opt/rocm/bin',
  '/opt/xilinx/xrt/bin',
  '/usr/lib/wsl/lib',
  '/run/current-system/sw/bin',
];

export const TOOL_PATH = [DEFAULT_PATH, ...VENDOR_FOLDERS].join(':');

/** The result for a tool whose last process hangs in its driver. */
const STUCK: RunResult = { code: null, stdout: '', stderr: '', timedOut: true, missing: false };

/**
 * Returns a runner for the tools of this machine. A tool whose last process cannot be ended is not started
 * again until that process is gone.
 */
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

/** Returns the failure in one line. Null when the tool succeeded or is not installed. */
export function toolProblem(result: RunResult): string | null {
  if (result.missing || result.code === 0) return null;
  if (result.timedOut) return noAnswer(TIMEOUT_MS);
  const firstLine = `${result.stdout}\n${result.stderr}`.split('\n').find((line) => line.trim() !== '');
  return firstLine?.trim().slice(0, 300) ?? `ended with status ${result.code ?? 'unknown'}`;
}

/** Parses a tool's JSON. Null when it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns an object of a tool's JSON, or an empty one. */
export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/**
 * Parses a number that tools print as a number or a string. Anything else (`N/A`, `[Not Supported]`) is null.
 */
export function looseNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !/^\s*-?\d+(\.\d+)?\s*$/.test(value)) return null;
  return Number(value);
}
