import { freemem, totalmem } from 'node:os';
import { readCgroup } from './cgroup.ts';
import { kernelText } from './kernel-files.ts';
import { zfsCacheBytes } from './zfs-cache.ts';

export interface HostMemory {
  /**
   * Maximum bytes that this process can use: the smaller of the machine's memory and its control group's
   * limit.
   */
  totalBytes: number;
  /** Bytes of it that are available now. */
  availableBytes: number;
  limitedBy: 'host' | 'cgroup';
}

/** Parses MemTotal and MemAvailable to bytes. Null when a line is missing. */
export function parseMeminfo(text: string): { total: number; available: number } | null {
  const kib = (key: string) =>
    Number(new RegExp(`^${key}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const [total, available] = [kib('MemTotal') * 1024, kib('MemAvailable') * 1024];
  return Number.isFinite(total) && Number.isFinite(available) ? { total, available } : null;
}

function machineMemory(root: string): { total: number; available: number } {
  const { total, available } = parseMeminfo(kernelText(root, 'proc/meminfo') ?? '') ?? {
    total: totalmem(),
    available: freemem(),
  };
  return { total, available: Math.min(total, available + zfsCacheBytes(root)) };
}

/** Returns the host memory available to this process. Cheap: reads a few small kernel files. */
export function readHostMemory(root: string): HostMemory {
  const host = machineMemory(root);
  const { memoryLimit, memoryLeft } = readCgroup(root);
  if (memoryLimit === null || memoryLeft === null || memoryLimit >= host.total) {
    return { totalBytes: host.total, availableBytes: host.available, limitedBy: 'host' };
  }
  const availableBytes = Math.min(host.available, memoryLeft);
  return { totalBytes: memoryLimit, availableBytes, limitedBy: 'cgroup' };
}
