import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { compileCacheEnv } from '../lib/perf/compile-cache.ts';
import { type RunResult, runCommand } from '../lib/process/run-command.ts';
import { readOsName } from './os-release.ts';
import { asRecord, parseJson } from './tools.ts';

const LIMITS = { timeoutMs: 5000, maxBytes: 65_536 };
const PROGRAM = fileURLToPath(new URL('./sysinfo-main.ts', import.meta.url));

export interface SystemInfo {
  cpu: string;
  os: string | null;
  /** The probe that provided it. */
  by: string;
}

/** Returns the processor's name from Node, used when the child reports nothing. */
function plainCpuName(): string {
  return cpus()[0]?.model.trim() || 'unknown processor';
}

/** Parses the processor's name from the child's output. Null when it contains none. */
export function parseSysinfo(result: Pick<RunResult, 'code' | 'stdout'>): string | null {
  const { cpu } = asRecord(result.code === 0 ? parseJson(result.stdout) : null);
  return (typeof cpu === 'string' ? cpu.trim() : '') || null;
}

/**
 * Returns the processor's name from systeminformation in a child process, and the system's name from its own
 * file: systeminformation would query the resolver for the host's full name and read the kernel log. Never
 * throws.
 */
export async function readSysinfo(path: string, signal?: AbortSignal): Promise<SystemInfo> {
  const options = { ...LIMITS, path, signal, env: compileCacheEnv() };
  const [result, os] = await Promise.all([runCommand(process.execPath, [PROGRAM], options), readOsName()]);
  const cpu = parseSysinfo(result);
  return cpu === null ? { cpu: plainCpuName(), os, by: 'node' } : { cpu, os, by: 'systeminformation' };
}
