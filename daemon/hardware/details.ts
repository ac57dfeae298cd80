import { readAmdSmi } from './amd-smi.ts';
import { readAmdgpu } from './amdgpu.ts';
import { clearLiveValues, type DeviceInfo, type DevicePatch, patchDevice } from './device-facts.ts';
import { readIntelGpu } from './intel-gpu.ts';
import type { Tree } from './kernel-tree.ts';
import { readNpu, scanPlatformNpus } from './npu.ts';
import { isUnified, type NvidiaGpu, readNvidia } from './nvidia-smi.ts';
import { readRocmSmi } from './rocm-smi.ts';
import type { Tool } from './tools.ts';
import { readXpuSmi } from './xpu-smi.ts';
import { readXrtSmi } from './xrt-smi.ts';

export interface DetailSources {
  tree: Tree;
  tool: Tool;
}

/** Patches by device id. `by` names the probe when it differs from the row's name. */
type Patches = ReadonlyMap<string, DevicePatch> & { readonly by?: string };

/** A reading of live values: the devices it applies to and its function. Later rows override earlier ones. */
interface DetailProbe {
  name: string;
  /** Slow: runs only in a full probe, not in a refresh. */
  slow?: true;
  concerns(device: DeviceInfo): boolean;
  read(sources: DetailSources, devices: readonly DeviceInfo[]): Promise<Patches>;
}

type ReadOne = (tree: Tree, id: string) => Promise<DevicePatch>;
const each =
  (readOne: ReadOne): DetailProbe['read'] =>
  async ({ tree }, devices) =>
    new Map(await Promise.all(devices.map(async ({ id }) => [id, await readOne(tree, id)] as const)));

/**
 * Uses AMD's current tool, or the older one when that is not installed. The driver's own files are more
 * precise and are applied later.
 */
async function readAmdTools({ tool }: DetailSources, devices: readonly DeviceInfo[]): Promise<Patches> {
  const { patches, problem } = await readAmdSmi(tool);
  if (patches.size > 0) return patches;
  const older = await readRocmSmi(tool, devices);
  if (older === null && problem !== null) throw new Error(problem);
  return older === null ? patches : Object.assign(older, { by: 'rocm-smi' });
}

export const DETAIL_PROBES: readonly DetailProbe[] = [
  { name: 'amd-smi', slow: true, concerns: (device) => device.driver === 'amdgpu', read: readAmdTools },
  { name: 'amdgpu', concerns: (device) => device.driver === 'amdgpu', read: each(readAmdgpu) },
  {
    name: 'intel',
    concerns: (device) => device.vendor === 'intel' && device.kind === 'gpu',
    read: each(readIntelGpu),
  },
  {
    name: 'npu',
    concerns: (device) => device.kind === 'npu' && device.vendor !== 'rockchip',
    read: each(readNpu),
  },
  {
    name: 'rknpu',
    concerns: (device) => device.vendor === 'rockchip',
    read: async ({ tree }) =>
      new Map((await scanPlatformNpus(tree)).map(({ id, busyPercent }) => [id, { busyPercent }] as const)),
  },
  {
    name: 'xpu-smi',
    concerns: (device) =>
      device.vendor === 'intel' && device.kind === 'gpu' && !/^[0-9a-f]{4}:00:/.test(device.id),
    read: ({ tool }) => readXpuSmi(tool),
  },
  {
    name: 'xrt-smi',
    slow: true,
    concerns: (device) => device.driver === 'amdxdna',
    read: ({ tool }, devices) => readXrtSmi(tool, devices),
  },
];

const NVIDIA_SMI = 'nvidia-smi';

/** Returns the names of the probes that read values of such a device. */
export const probesFor = (device: DeviceInfo): string[] => [
  ...(device.vendor === 'nvidia' ? [NVIDIA_SMI] : []),
  ...DETAIL_PROBES.filter((probe) => probe.concerns(device)).map(({ name }) => name),
];

/** Applies the results of one probe to its devices. */
export function applyPatches(devices: readonly DeviceInfo[], name: string, patches: Patches): void {
  for (const device of devices) patchDevice(device, patches.get(device.id), patches.by ?? name);
}

/** Applies the output of nvidia-smi to the NVIDIA devices, or records its failure on each of them. */
export function applyNvidia(
  devices: readonly DeviceInfo[],
  answer: { gpus: readonly NvidiaGpu[]; problem: string | null },
): void {
  for (const device of devices.filter(({ vendor }) => vendor === 'nvidia')) {
    const gpu = answer.gpus.find(({ id }) => id === device.id);
    device.toolProblem = gpu === undefined ? answer.problem : null;
    if (gpu === undefined) continue;
    patchDevice(device, { ...gpu.patch, integrated: isUnified(gpu, device.deviceId) }, NVIDIA_SMI);
  }
}

/** Refreshes the live values of the devices. Runs nvidia-smi only if it worked before. */
export async function refreshDetails(sources: DetailSources, devices: readonly DeviceInfo[]): Promise<void> {
  const due = DETAIL_PROBES.filter(({ slow }) => !slow)
    .map((probe) => ({ probe, own: devices.filter((device) => probe.concerns(device)) }))
    .filter(({ own }) => own.length > 0);
  const nvidia = devices.some(({ vendor, toolAnswered }) => vendor === 'nvidia' && toolAnswered);
  const [answer, ...readings] = await Promise.all([
    nvidia ? readNvidia(sources.tool) : null,
    ...due.map(async ({ probe, own }) => ({
      own,
      name: probe.name,
      patches: await probe.read(sources, own),
    })),
  ]);
  for (const device of devices) clearLiveValues(device);
  for (const { own, name, patches } of readings) applyPatches(own, name, patches);
  if (answer !== null && answer.problem === null) applyNvidia(devices, answer);
}
