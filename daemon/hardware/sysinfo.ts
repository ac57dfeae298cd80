import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { DiskRecord, NetworkRecord } from '../contract/hardware.ts';
import { compileCacheEnv } from '../lib/perf/compile-cache.ts';
import { type RunResult, runCommand } from '../lib/process/run-command.ts';
import { readOsName } from './os-release.ts';
import { pciAddress } from './pci-scan.ts';
import { asRecord, looseNumber, parseJson } from './tools.ts';

/** What the child program reads, each by one call of systeminformation. */
export type Subject = 'cpu' | 'load' | 'temperature' | 'memory' | 'network' | 'disks' | 'graphics';

const LIMITS = { timeoutMs: 5000, maxBytes: 262_144 };
const PROGRAM = fileURLToPath(new URL('./sysinfo-main.ts', import.meta.url));
/** Maximum number of reported disks and of network interfaces. */
const MAX_ROWS = 32;
/** File systems without storage. */
const PSEUDO_FILE_SYSTEMS = new Set([
  'tmpfs',
  'devtmpfs',
  'overlay',
  'squashfs',
  'efivarfs',
  'ramfs',
  'fuse.snapfuse',
]);

export interface SystemInfo {
  cpu: string;
  os: string | null;
  /** The probe that provided it. */
  by: string;
}

/** The values of one run of the child by subject. A subject that failed or was not reached is absent. */
export type Sysinfo = Readonly<Partial<Record<Subject, unknown>>>;

/** Returns the processor's name from Node, used when the child reports nothing. */
function plainCpuName(): string {
  return cpus()[0]?.model.trim() || 'unknown processor';
}

/** Parses the lines of the child. A line that is cut at the time limit is dropped. */
export function parseSysinfo(stdout: string): Sysinfo {
  const lines = stdout.split('\n').map((line) => asRecord(parseJson(line)));
  return Object.fromEntries(
    lines
      .filter(({ value }) => value !== null && value !== undefined)
      .map(({ subject, value }) => [subject, value]),
  );
}

/**
 * Reads subjects from systeminformation in a child process with a time limit of 5 s. Subjects that were complete
 * before the limit are returned. `leftBehind` is set when the kernel blocks the child beyond its end. Never throws.
 */
export async function runSysinfo(
  subjects: readonly Subject[],
  path: string,
  signal?: AbortSignal,
): Promise<{ values: Sysinfo; leftBehind: RunResult['leftBehind'] }> {
  const options = { ...LIMITS, path, signal, env: compileCacheEnv() };
  const { stdout, leftBehind } = await runCommand(process.execPath, [PROGRAM, ...subjects], options);
  return { values: parseSysinfo(stdout), leftBehind };
}

const list = (value: unknown): Record<string, unknown>[] =>
  Array.isArray(value) ? value.slice(0, 256).map(asRecord) : [];
const text = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
const positive = (value: unknown): number | null => {
  const number = looseNumber(value);
  return number !== null && number > 0 ? number : null;
};

/** Returns the processor's name. Null when systeminformation does not report it. */
export function cpuNameOf({ cpu }: Sysinfo): string | null {
  const { manufacturer, brand } = asRecord(cpu);
  return text([text(manufacturer), text(brand)].filter((part) => part !== null).join(' '));
}

/** Returns load in percent and temperature in degrees Celsius of the processor. Null for what has no sensor. */
export function cpuValuesOf({ load, temperature }: Sysinfo): {
  busyPercent: number | null;
  temperatureC: number | null;
} {
  const busy = looseNumber(asRecord(load).currentLoad);
  return {
    busyPercent: busy === null ? null : Math.round(Math.min(100, Math.max(0, busy)) * 10) / 10,
    temperatureC: positive(asRecord(temperature).main),
  };
}

/** Returns the swap space in bytes. Null when the subject was not read. */
export function swapOf({ memory }: Sysinfo): { totalBytes: number; usedBytes: number } | null {
  const { swaptotal, swapused } = asRecord(memory);
  const [totalBytes, usedBytes] = [looseNumber(swaptotal), looseNumber(swapused)];
  return totalBytes === null || usedBytes === null ? null : { totalBytes, usedBytes };
}

/** Returns the file systems with storage, each device once, by its shortest mount point. */
export function disksOf({ disks }: Sysinfo): DiskRecord[] {
  const byDevice = new Map<string, DiskRecord>();
  for (const { fs, type, size, available, mount } of list(disks)) {
    const [device, total] = [text(fs), positive(size)];
    if (device === null || total === null || typeof mount !== 'string') continue;
    if (PSEUDO_FILE_SYSTEMS.has(String(type).toLowerCase())) continue;
    const known = byDevice.get(device);
    if (known !== undefined && known.mount.length <= mount.length) continue;
    byDevice.set(device, {
      mount,
      type: text(type),
      total_bytes: total,
      available_bytes: looseNumber(available),
    });
  }
  return [...byDevice.values()].slice(0, MAX_ROWS);
}

/** Returns the network interfaces that are up and have an address, without the loopback interface. */
export function networksOf({ network }: Sysinfo): NetworkRecord[] {
  return list(network)
    .filter(
      ({ internal, operstate, ip4, ip6 }) =>
        internal !== true && operstate !== 'down' && (text(ip4) ?? text(ip6)) !== null,
    )
    .slice(0, MAX_ROWS)
    .map((each) => ({
      name: text(each.iface) ?? 'unknown',
      kind: text(each.type),
      ipv4: text(each.ip4),
      ipv6: text(each.ip6),
      speed_mbit: positive(each.speed),
      default: each.default === true,
    }));
}

/**
 * Returns the names of graphics devices by PCI address. Their memory is not used: on Linux it is often the size of
 * a PCI region.
 */
export function graphicsNamesOf({ graphics }: Sysinfo): Map<string, string> {
  return new Map(
    list(asRecord(graphics).controllers).flatMap(({ busAddress, pciBus, model }) => {
      const address = text(busAddress) ?? text(pciBus);
      const id = address === null ? null : (pciAddress(address) ?? pciAddress(`0000:${address}`));
      const name = text(model);
      return id === null || name === null ? [] : [[id, name]];
    }),
  );
}

/**
 * Returns the processor's name from systeminformation in a child process, and the system's name from its own
 * file: systeminformation would query the resolver for the host's full name and read the kernel log. Never
 * throws.
 */
export async function readSysinfo(path: string, signal?: AbortSignal): Promise<SystemInfo> {
  const [{ values }, os] = await Promise.all([runSysinfo(['cpu'], path, signal), readOsName()]);
  const cpu = cpuNameOf(values);
  return cpu === null ? { cpu: plainCpuName(), os, by: 'node' } : { cpu, os, by: 'systeminformation' };
}

/** Returns the names of graphics devices by PCI address, from a separate child. Never throws. */
export async function readGraphicsNames(path: string, signal?: AbortSignal): Promise<Map<string, string>> {
  return graphicsNamesOf((await runSysinfo(['graphics'], path, signal)).values);
}
