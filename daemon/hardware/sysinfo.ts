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
  /** The probe that told it. */
  by: string;
}

/** The processor's name as Node reads it, for a machine on which the child says nothing. */
function plainCpuName(): string {
  return cpus()[0]?.model.trim() || 'unknown processor';
}

/** The processor's name from what the child has printed; null when that says nothing. */
export function parseSysinfo(result: Pick<RunResult, 'code' | 'stdout'>): string | null {
  const { cpu } = asRecord(result.code === 0 ? parseJson(result.stdout) : null);
  return (typeof cpu === 'string' ? cpu.trim() : '') || null;
}

/**
 * Name of the processor, from systeminformation in a process of its own, and of the system, from its own file: systeminformation would
 * ask the resolver for the host's full name and read the kernel's log on the way. Never throws.
 */
export async function readSysinfo(path: string, signal?: AbortSignal): Promise<SystemInfo> {
  const options = { ...LIMITS, path, signal, env: compileCacheEnv() };
  const [result, os] = await Promise.all([runCommand(process.execPath, [PROGRAM], options), readOsName()]);
  const cpu = parseSysinfo(result);
  return cpu === null ? { cpu: plainCpuName(), os, by: 'node' } : { cpu, os, by: 'systeminformation' };
}
