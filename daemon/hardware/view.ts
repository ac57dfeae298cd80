import type { DeviceRecord, HardwareView, MemoryPoolRecord } from '../contract/hardware.ts';
import { evidenceOf } from './evidence.ts';
import type { HostMemory } from './host-memory.ts';
import type { HostReadings } from './host-readings.ts';
import { isUnifiedGpu, memoryPools, poolOf } from './memory-budget.ts';
import type { ProbedDevice, ProbeResult } from './probe.ts';
import { unusedReason } from './unused-reason.ts';

export interface HostInfo {
  memory: HostMemory;
  coresPhysical: number;
  coresLogical: number;
  readings: HostReadings;
}

function cpuDevice(probe: ProbeResult, { memory, readings }: HostInfo): DeviceRecord {
  return {
    id: 'cpu',
    kind: 'cpu',
    vendor: null,
    name: probe.system.cpu,
    driver: null,
    access: 'ok',
    memory_total_bytes: memory.totalBytes,
    memory_used_bytes: Math.max(0, memory.totalBytes - memory.availableBytes),
    pool: 'host',
    busy_percent: readings.cpuBusyPercent,
    power_w: null,
    temperature_c: readings.cpuTemperatureC,
    unused_reason: null,
  };
}

/**
 * Returns the memory of a device. A unified GPU's memory is its pool; its usage is carve-out plus mapped host
 * memory.
 */
function memoryOf({ info }: ProbedDevice, pool: MemoryPoolRecord | undefined) {
  if (!isUnifiedGpu(info)) return { total: info.memoryTotal, used: info.memoryUsed };
  const used = info.memoryUsed === null ? null : info.memoryUsed + (info.gttUsed ?? 0);
  return { total: pool?.total_bytes ?? null, used };
}

function acceleratorView(
  device: ProbedDevice,
  pools: readonly MemoryPoolRecord[],
  probe: ProbeResult,
): DeviceRecord {
  const { info, name, access } = device;
  const pool = pools.find(({ id }) => id === poolOf(info));
  const memory = memoryOf(device, pool);
  return {
    id: info.id,
    kind: info.kind,
    vendor: info.vendor,
    name,
    driver: info.driver,
    access,
    memory_total_bytes: memory.total,
    memory_used_bytes: memory.used,
    pool: pool?.id ?? null,
    busy_percent: info.busyPercent,
    power_w: info.powerW,
    temperature_c: info.temperatureC,
    unused_reason: unusedReason(info, access, probe.backend),
  };
}

/** Returns the response of `GET /api/hardware` from a probe and the current host memory. */
export function hardwareView(probe: ProbeResult, host: HostInfo): HardwareView {
  const pools = memoryPools(
    host.memory,
    probe.devices.map(({ info }) => info),
  );
  return {
    probed_at: probe.probedAt,
    host: {
      cpu: probe.system.cpu,
      os: probe.system.os,
      cores_physical: host.coresPhysical,
      cores_logical: host.coresLogical,
      memory_total_bytes: host.memory.totalBytes,
      memory_available_bytes: host.memory.availableBytes,
      swap_total_bytes: host.readings.swap?.totalBytes ?? null,
      swap_used_bytes: host.readings.swap?.usedBytes ?? null,
      disks: host.readings.disks,
      networks: host.readings.networks,
    },
    devices: [
      cpuDevice(probe, host),
      ...probe.devices.map((device) => acceleratorView(device, pools, probe)),
    ],
    pools,
    containers: probe.containers,
    evidence: evidenceOf(probe, pools, host),
    problems: probe.problems,
  };
}
