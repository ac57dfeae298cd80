import { type DeviceInfo, type DevicePatch, newDevice } from './device-facts.ts';
import { NVIDIA_UNIFIED } from './known-devices.ts';
import { pciAddress } from './pci-scan.ts';
import { looseNumber, type Tool, toolProblem } from './tools.ts';

const MIB = 1_048_576;
const MAX_GPUS = 64;
const NVIDIA = 0x10de;

export const GPU_QUERY = [
  '--query-gpu=index,uuid,name,pci.bus_id,driver_version,memory.total,memory.used,memory.free,utilization.gpu,temperature.gpu,power.draw,power.limit,compute_cap',
  '--format=csv,noheader,nounits',
];
export const APPS_QUERY = [
  '--query-compute-apps=gpu_uuid,pid,process_name,used_memory',
  '--format=csv,noheader,nounits',
];
/** Number of columns before the name. The name itself may contain a comma. */
const COLUMNS_BEFORE_NAME = 2;
const COLUMNS_AFTER_NAME = 10;

export interface NvidiaGpu {
  id: string;
  uuid: string;
  name: string;
  patch: DevicePatch;
}

const mib = (text: string | undefined) => {
  const value = looseNumber(text);
  return value === null ? null : value * MIB;
};

function parseRow(line: string): NvidiaGpu | null {
  const cells = line.split(',').map((cell) => cell.trim());
  if (cells.length < COLUMNS_BEFORE_NAME + 1 + COLUMNS_AFTER_NAME) return null;
  const afterName = cells.slice(-COLUMNS_AFTER_NAME);
  const id = pciAddress(afterName[0] ?? '');
  const name = cells.slice(COLUMNS_BEFORE_NAME, -COLUMNS_AFTER_NAME).join(', ');
  if (id === null) return null;
  const patch: DevicePatch = {
    name,
    memoryTotal: mib(afterName[2]),
    memoryUsed: mib(afterName[3]),
    memoryFree: mib(afterName[4]),
    busyPercent: looseNumber(afterName[5]),
    temperatureC: looseNumber(afterName[6]),
    powerW: looseNumber(afterName[7]),
    toolAnswered: true,
  };
  return { id, uuid: cells[1] ?? '', name, patch };
}

/** Parses GPUs from `nvidia-smi --query-gpu`. A field that the driver does not support (`[N/A]`) stays null. */
export function parseGpus(csv: string): NvidiaGpu[] {
  return csv
    .split('\n')
    .map(parseRow)
    .filter((gpu) => gpu !== null)
    .slice(0, MAX_GPUS);
}

/** Parses the bytes used by compute processes, by GPU uuid. Empty when no process reports a number. */
export function parseApps(csv: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const line of csv.split('\n').slice(0, 4096)) {
    const cells = line.split(',').map((cell) => cell.trim());
    const used = mib(cells.at(-1));
    const uuid = cells[0] ?? '';
    if (used !== null && uuid !== '') sums.set(uuid, (sums.get(uuid) ?? 0) + used);
  }
  return sums;
}

/** True for a GPU that uses host memory: it reports no own memory and is a known model. */
export function isUnified(gpu: NvidiaGpu, deviceId: number | null): boolean {
  if (typeof gpu.patch.memoryTotal === 'number') return false;
  const byId = deviceId !== null && deviceId >= NVIDIA_UNIFIED.firstId && deviceId <= NVIDIA_UNIFIED.lastId;
  return byId || NVIDIA_UNIFIED.name.test(gpu.name);
}

/** Returns the GPUs of nvidia-smi, or why there are none. Not installed: no GPUs and no problem. */
export async function readNvidia(tool: Tool): Promise<{ gpus: NvidiaGpu[]; problem: string | null }> {
  const result = await tool('nvidia-smi', GPU_QUERY);
  const problem = toolProblem(result);
  const gpus = result.code === 0 ? parseGpus(result.stdout) : [];
  if (gpus.some((gpu) => gpu.patch.memoryUsed === null)) {
    const apps = await tool('nvidia-smi', APPS_QUERY);
    const used = apps.code === 0 ? parseApps(apps.stdout) : new Map<string, number>();
    for (const gpu of gpus) gpu.patch.memoryUsed ??= used.get(gpu.uuid) ?? null;
  }
  return { gpus, problem };
}

/** Returns a GPU that only the tool reports, as in a Windows virtual machine without a PCI bus. */
export function deviceOnlyInTool(gpu: NvidiaGpu): DeviceInfo {
  return {
    ...newDevice({ id: gpu.id, kind: 'gpu', vendor: 'nvidia', vendorId: NVIDIA, deviceId: null }),
    driver: 'nvidia',
    foundBy: 'nvidia-smi',
    sources: { driver: 'nvidia-smi' },
  };
}
