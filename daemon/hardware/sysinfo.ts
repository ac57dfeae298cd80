import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { compileCacheEnv } from '../kit/compile-cache.ts';
import { type RunResult, runCommand } from '../kit/run-command.ts';
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

export function parseSysinfo(result: Pick<RunResult, 'code' | 'stdout'>): SystemInfo | null {
  const answer = asRecord(result.code === 0 ? parseJson(result.stdout) : null);
  const text = (key: string) => (typeof answer[key] === 'string' ? answer[key].trim() : '');
  if (text('cpu') === '') return null;
  return { cpu: text('cpu'), os: text('os') || null, by: 'systeminformation' };
}

/** Name of the processor and of the system, from systeminformation in a process of its own. Never throws. */
export async function readSysinfo(path: string, signal?: AbortSignal): Promise<SystemInfo> {
  const options = { ...LIMITS, path, signal, env: compileCacheEnv() };
  const result = await runCommand(process.execPath, [PROGRAM], options);
  return parseSysinfo(result) ?? { cpu: plainCpuName(), os: null, by: 'node' };
}
