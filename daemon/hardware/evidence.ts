import type { EvidenceRecord, MemoryPoolRecord } from '../contract/hardware.ts';
import { probesFor } from './details.ts';
import type { DeviceInfo } from './device-facts.ts';
import type { HostMemory } from './host-memory.ts';
import type { HostReadings } from './host-readings.ts';
import { HOST_POOL, isUnifiedGpu } from './memory-budget.ts';
import type { ProbedDevice, ProbeResult } from './probe.ts';
import type { ProbeProblem } from './run-guarded.ts';

/** The name of each fact in the response, and its field. */
const FIELDS = {
  driver: 'driver',
  memory_total_bytes: 'memoryTotal',
  memory_used_bytes: 'memoryUsed',
  busy_percent: 'busyPercent',
  power_w: 'powerW',
  temperature_c: 'temperatureC',
} as const satisfies Record<string, keyof DeviceInfo>;
type Fact = keyof typeof FIELDS;

/** Returns the source of the host's memory: `proc/meminfo`, or the control group when that is narrower. */
const hostSource = ({ limitedBy }: HostMemory): string => (limitedBy === 'cgroup' ? 'cgroup' : 'meminfo');

/** Returns in one line why no probe provided a fact of a device. */
function reasonFor(fact: Fact, { info, access }: ProbedDevice, probe: ProbeResult): string {
  if (fact === 'driver') return 'no driver is bound to it';
  if (access === 'no_driver') return info.toolProblem ?? 'no driver that reports it is loaded';
  if (info.integrated && !isUnifiedGpu(info) && fact.startsWith('memory_')) {
    return 'it uses host memory';
  }
  const probes = probesFor(info);
  if (probes.length === 0) return 'no probe reads it';
  return probes.map((name) => probeFailure(name, info, probe)).join('; ');
}

function probeFailure(
  name: string,
  { toolProblem }: DeviceInfo,
  { problems, missingTools }: ProbeResult,
): string {
  const failed = problems.find((problem: ProbeProblem) => problem.probe === name)?.reason;
  const failure = failed ?? (name === 'nvidia-smi' ? toolProblem : null);
  if (failure) return `${name}: ${failure}`;
  return missingTools.has(name) ? `${name} is not installed` : `${name} does not report it`;
}

/** Returns the source of a device's memory size. For integrated graphics it is that of the host pool. */
const totalSource = (info: DeviceInfo, pools: readonly EvidenceRecord[]): string | undefined =>
  isUnifiedGpu(info)
    ? pools.find(({ of }) => of === `pool ${HOST_POOL}`)?.facts.total_bytes
    : info.sources.memoryTotal;

function deviceEvidence(
  device: ProbedDevice,
  probe: ProbeResult,
  pools: readonly EvidenceRecord[],
): EvidenceRecord {
  const { info, nameBy } = device;
  const known: Record<string, string> = { name: nameBy, access: 'device nodes' };
  const unread: EvidenceRecord['unread'] = [];
  for (const [fact, key] of Object.entries(FIELDS) as [Fact, (typeof FIELDS)[Fact]][]) {
    const by = fact === 'memory_total_bytes' ? totalSource(info, pools) : info.sources[key];
    if (by !== undefined) known[fact] = by;
    else unread.push({ fact, reason: reasonFor(fact, device, probe) });
  }
  return { of: info.id, found_by: info.foundBy, facts: known, unread };
}

const SYSINFO = 'systeminformation';
/** The host's values that systeminformation reads. */
const READINGS = {
  busy_percent: 'cpuBusyPercent',
  temperature_c: 'cpuTemperatureC',
  swap: 'swap',
  disks: 'disks',
  networks: 'networks',
} as const satisfies Record<string, keyof HostReadings>;

function hostEvidence(
  { system }: ProbeResult,
  { memory, readings }: { memory: HostMemory; readings: HostReadings },
): EvidenceRecord {
  const facts: Record<string, string> = { cpu: system.by, cores: 'cpuinfo', memory: hostSource(memory) };
  const unread: EvidenceRecord['unread'] = [];
  if (system.os !== null) facts.os = 'os-release';
  else unread.push({ fact: 'os', reason: 'no os-release file names it' });
  for (const [fact, key] of Object.entries(READINGS)) {
    if (readings[key] !== null) facts[fact] = SYSINFO;
    else unread.push({ fact, reason: `${SYSINFO} does not report it` });
  }
  return { of: 'host', found_by: 'kernel', facts, unread };
}

/** Returns the probes behind the size of a pool. The available bytes come from the same probes. */
function poolEvidence(
  { id, kind, limited_by, available_bytes, devices }: MemoryPoolRecord,
  probe: ProbeResult,
  memory: HostMemory,
): EvidenceRecord {
  const members = probe.devices.map(({ info }) => info).filter((info) => devices.includes(info.id));
  const gpu = members.find((info) => (kind === 'unified' ? isUnifiedGpu(info) : info.id === id));
  const key = limited_by === 'gtt' ? 'gttTotal' : 'memoryTotal';
  const card = gpu?.sources[key];
  const size = kind === 'host' || (kind === 'unified' && limited_by !== 'gtt') ? hostSource(memory) : card;
  const facts: Record<string, string> = size === undefined ? {} : { total_bytes: size };
  const free = kind === 'device' ? gpu?.sources.memoryFree : hostSource(memory);
  if (available_bytes !== null && free !== undefined) facts.available_bytes = free;
  const unread =
    available_bytes === null ? [{ fact: 'available_bytes', reason: 'the driver does not report it' }] : [];
  return { of: `pool ${id}`, found_by: gpu?.foundBy ?? 'kernel', facts, unread };
}

/**
 * Returns which probe found each fact, and the reason for each value that could not be read
 * (docs/spec/contract.md#hardware). Subjects are `host`, the ids of devices, and pools as `pool ID`.
 */
export function evidenceOf(
  probe: ProbeResult,
  pools: readonly MemoryPoolRecord[],
  host: { memory: HostMemory; readings: HostReadings },
): EvidenceRecord[] {
  const poolEvidences = pools.map((pool) => poolEvidence(pool, probe, host.memory));
  return [
    hostEvidence(probe, host),
    ...probe.devices.map((device) => deviceEvidence(device, probe, poolEvidences)),
    ...poolEvidences,
  ];
}
