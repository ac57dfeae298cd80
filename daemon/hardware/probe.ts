import type { ContainerRuntimeRecord } from '../contract/hardware.ts';
import { decideAccess, nodesToCheck } from './access.ts';
import { type ContainerSources, readContainers } from './containers.ts';
import { applyNvidia, applyPatches, DETAIL_PROBES } from './details.ts';
import { type Access, type DeviceInfo, patchDevice } from './device-facts.ts';
import { deviceName, isNameless } from './device-name.ts';
import { type NodeAccess, readDeviceNodes } from './device-nodes.ts';
import { readFlm } from './flm.ts';
import type { Tree } from './kernel-tree.ts';
import { readKfd } from './kfd.ts';
import { readLspci } from './lspci.ts';
import { scanPlatformNpus } from './npu.ts';
import { deviceOnlyInTool, readNvidia } from './nvidia-smi.ts';
import { scanPci } from './pci-scan.ts';
import { type ProbeProblem, runGuarded } from './run-guarded.ts';
import { readGraphicsNames, readSysinfo, type SystemInfo } from './sysinfo.ts';
import type { Tool } from './tools.ts';
import type { BackendInfo } from './unused-reason.ts';
import { readVulkan } from './vulkaninfo.ts';

export interface ProbeContext {
  tree: Tree;
  tool: Tool;
  path: string;
  nodeAccess: NodeAccess;
  /** Installed llama.cpp backends. */
  backends: () => readonly string[];
  /** Null: container engines are not searched. */
  containers: ContainerSources | null;
  signal: AbortSignal;
  /** Maximum milliseconds of one probe. */
  limitMs: number;
}

export interface ProbedDevice {
  info: DeviceInfo;
  name: string;
  /** The probe that provided the name. */
  nameBy: string;
  access: Access;
}

export interface ProbeResult {
  /** Unix milliseconds. */
  probedAt: number;
  system: SystemInfo;
  devices: ProbedDevice[];
  backend: BackendInfo;
  containers: ContainerRuntimeRecord[];
  problems: ProbeProblem[];
  /** Vendor tools that were needed and are not installed. */
  missingTools: ReadonlySet<string>;
}

type Run = <T>(name: string, work: () => Promise<T>, fallback: T) => Promise<T>;

/** Runs the kernel probes in this order: device list, nodes, driver values. */
async function probeKernel({ tree, tool }: ProbeContext, run: Run): Promise<DeviceInfo[]> {
  const [pci, platform, nodes, kfd] = await Promise.all([
    run('pci', () => scanPci(tree), []),
    run('rknpu', () => scanPlatformNpus(tree), []),
    run('device nodes', () => readDeviceNodes(tree), new Map<string, string[]>()),
    run('kfd', () => readKfd(tree), new Map()),
  ]);
  const devices = [...pci, ...platform];
  for (const device of devices) {
    patchDevice(device, { nodes: nodes.get(device.id) }, 'device nodes');
    patchDevice(device, kfd.get(device.id), 'kfd');
  }
  const readings = await Promise.all(
    DETAIL_PROBES.map(async (probe) => {
      const own = devices.filter((device) => probe.concerns(device));
      const { name } = probe;
      if (own.length === 0) return { own, name, patches: new Map() };
      return { own, name, patches: await run(name, () => probe.read({ tree, tool }, own), new Map()) };
    }),
  );
  for (const { own, name, patches } of readings) applyPatches(own, name, patches);
  return devices;
}

function addNvidia(devices: DeviceInfo[], answer: Awaited<ReturnType<typeof readNvidia>>): void {
  const known = new Set(devices.map(({ id }) => id));
  devices.push(...answer.gpus.filter(({ id }) => !known.has(id)).map(deviceOnlyInTool));
  applyNvidia(devices, answer);
}

/**
 * Applies Vulkan's information whether a device is integrated, if no other probe provided it. One device of a
 * kind applies to all of that kind.
 */
function addVulkan(devices: DeviceInfo[], answer: Awaited<ReturnType<typeof readVulkan>>): void {
  for (const device of devices.filter(({ integrated }) => integrated === null)) {
    const match = answer.devices?.find(
      ({ vendorId, deviceId }) => vendorId === device.vendorId && deviceId === device.deviceId,
    );
    patchDevice(device, { integrated: match?.integrated ?? null }, 'vulkaninfo');
  }
}

async function accessOf(device: DeviceInfo, nodeAccess: NodeAccess): Promise<Access> {
  return decideAccess(device, await Promise.all(nodesToCheck(device).map(nodeAccess)));
}

async function probeContainers(context: ProbeContext): Promise<ContainerRuntimeRecord[]> {
  const { containers: sources, nodeAccess, path, signal } = context;
  return sources === null ? [] : readContainers({ sources, nodeAccess, path, signal });
}

/** Wraps the tools and records missing ones in `missing`. */
const recordMissingTools =
  (tool: Tool, missing: Set<string>): Tool =>
  async (file, args) => {
    const result = await tool(file, args);
    if (result.missing) missing.add(file);
    return result;
  };

/** Returns errors of tools whose hardware is present. On other machines a failing tool is normal. */
function toolProblems(
  devices: readonly DeviceInfo[],
  nvidia: string | null,
  vulkan: string | null,
): ProbeProblem[] {
  const found = [
    { probe: 'nvidia-smi', reason: devices.some(({ vendor }) => vendor === 'nvidia') ? nvidia : null },
    { probe: 'vulkaninfo', reason: devices.some(({ kind }) => kind === 'gpu') ? vulkan : null },
  ];
  return found.flatMap(({ probe, reason }) => (reason === null ? [] : [{ probe, reason }]));
}

/**
 * Probes the whole machine once (docs/spec/contract.md#hardware): all probes run in parallel, each with its
 * limit, and none can make the probe fail. Devices are keyed by PCI address. A value that no probe found is
 * null.
 */
export async function probeMachine(options: ProbeContext): Promise<ProbeResult> {
  const missingTools = new Set<string>();
  const context = { ...options, tool: recordMissingTools(options.tool, missingTools) };
  const { tool, limitMs, nodeAccess } = context;
  const problems: ProbeProblem[] = [];
  const run: Run = (name, work, fallback) => runGuarded(name, limitMs, work, fallback, problems);
  const noNvidia: Awaited<ReturnType<typeof readNvidia>> = { gpus: [], problem: null };
  const noVulkan: Awaited<ReturnType<typeof readVulkan>> = { devices: null, problem: null };
  const [system, devices, nvidia, vulkan, lspci, flm, containers] = await Promise.all([
    run<SystemInfo>('system', () => readSysinfo(context.path, context.signal), {
      cpu: 'unknown processor',
      os: null,
      by: 'none',
    }),
    probeKernel(context, run),
    run('nvidia-smi', () => readNvidia(tool), noNvidia),
    run('vulkaninfo', () => readVulkan(tool), noVulkan),
    run('lspci', () => readLspci(tool), new Map<string, string>()),
    run('flm', () => readFlm(tool), null),
    run('containers', () => probeContainers(context), []),
  ]);
  addNvidia(devices, nvidia);
  addVulkan(devices, vulkan);
  const names = { vulkan: vulkan.devices, lspci };
  const graphics = devices.some((info) => isNameless(info, names))
    ? await run('graphics', () => readGraphicsNames(context.path, context.signal), new Map<string, string>())
    : new Map<string, string>();
  const probed = devices.map(async (info) => ({
    info,
    ...deviceName(info, { ...names, graphics }),
    access: await run<Access>(`access ${info.id}`, () => accessOf(info, nodeAccess), 'unknown'),
  }));
  return {
    probedAt: Date.now(),
    system,
    devices: await Promise.all(probed),
    backend: { backends: context.backends(), vulkan: vulkan.devices, flm },
    containers,
    missingTools,
    problems: [...problems, ...toolProblems(devices, nvidia.problem, vulkan.problem)],
  };
}
