import { basename, isAbsolute } from 'node:path';
import { splitParts } from '../../models/split-files.ts';
import type { SlotConfig } from '../config/slot-file.ts';
import type { Dialect, Launch, LaunchParams } from './engine.ts';
import type {
  AttachRunSpec,
  ContainerDevice,
  ContainerRunSpec,
  FatalOutput,
  KeyDelivery,
  Mount,
  Probe,
  ProcessRunSpec,
  SharedProcess,
  UnloadCall,
} from './run-spec.ts';
import { backendOf, visibleDeviceEnv } from './visible-devices.ts';

const START_BASE_MS = 60_000;
/** A slow disk still reads this much per millisecond. */
const BYTES_PER_MS = 20_000;
const MAX_START_MS = 1_800_000;
/** A server that runs already is there or not. */
const ATTACH_MS = 30_000;

/** Milliseconds that a model of this size may take to load. */
export const loadLimitMs = (sizeBytes: number): number =>
  Math.min(MAX_START_MS, START_BASE_MS + Math.ceil(sizeBytes / BYTES_PER_MS));

/** Where the model of an engine comes from that takes a path or a name of its own; a server that runs already knows names only. */
export const fileOrName = ({ runner, model }: SlotConfig): 'file' | 'name' =>
  runner !== 'attach' && model !== null && isAbsolute(model) ? 'file' : 'name';

/** What the launches of all engines have in common, without a window of their own. */
export function commonLaunch(params: LaunchParams, dialect: Dialect): Omit<Launch, 'how'> {
  const { config, model, threads } = params;
  const attached = config.runner === 'attach';
  return {
    slot: config.name,
    engine: config.engine,
    type: config.type,
    modelId: model.id,
    modelPath: model.path,
    demo: model.demo,
    context: config.context ?? 0,
    parallel: config.parallel,
    sequences: 0,
    batch: 0,
    threads: attached ? 0 : threads,
    device: attached ? 'remote' : backendOf(config.device),
    env: { ...visibleDeviceEnv(config, params.card), ...config.env },
    startLimitMs: attached ? ATTACH_MS : loadLimitMs(model.sizeBytes),
    degraded: null,
    dialect,
  };
}

/** An attached server, with the bearer key that `key_env` names. */
export const attachSpec = (config: SlotConfig, probe: Probe, farewell?: UnloadCall): AttachRunSpec => ({
  runner: 'attach',
  url: config.url as string,
  keyVariable: config.keyEnv,
  probe: probeOf(config, probe),
  ...(farewell && { farewell }),
});

export interface ProcessPlan {
  /** The engine's program when the slot file names none. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly key: KeyDelivery;
  readonly probe: Probe;
  readonly install: string;
  readonly shared?: SharedProcess;
  readonly unfit?: readonly FatalOutput[];
}

/** A program: that of the slot file or the engine's own, then the engine's arguments, then those of the slot file. */
export function processSpec(config: SlotConfig, plan: ProcessPlan): ProcessRunSpec {
  const [command, ...first] = config.command ?? [plan.command];
  return {
    runner: 'process',
    command: command as string,
    args: [...first, ...plan.args, ...config.extraArgs],
    env: plan.env ?? {},
    key: plan.key,
    probe: probeOf(config, plan.probe),
    install: plan.install,
    shared: plan.shared ?? null,
    unfit: plan.unfit ?? [],
  };
}

export interface ContainerPlan {
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where the engine listens inside unless the slot file says otherwise. */
  readonly port: number;
  /** Absolute paths of further files that it reads, found inside at `inside(path)`. */
  readonly extraFiles?: readonly string[];
  readonly key: KeyDelivery;
  readonly shmBytes?: number;
  readonly probe: Probe;
}

/** An image: that of the slot file or the engine's own, with the model's files mounted read-only below `/models`. */
export function containerSpec(
  config: SlotConfig,
  modelPath: string | null,
  plan: ContainerPlan,
): ContainerRunSpec {
  return {
    runner: 'container',
    image: config.image ?? plan.image,
    args: [...plan.args, ...config.extraArgs],
    env: plan.env ?? {},
    mounts: [...(modelPath === null ? [] : modelMounts(modelPath)), ...(plan.extraFiles ?? []).map(mountOf)],
    devices: containerDevices(config.device),
    port: config.port ?? plan.port,
    modelPath: modelPath === null ? null : inside(modelPath),
    key: plan.key,
    pull: config.pull,
    shmBytes: plan.shmBytes ?? null,
    probe: probeOf(config, plan.probe),
  };
}

const probeOf = (config: SlotConfig, probe: Probe): Probe =>
  config.health === null ? probe : { path: config.health, loading: probe.loading };

/** Where a container finds a file that is mounted for it. */
export const inside = (path: string): string => `/models/${basename(path)}`;

const mountOf = (path: string): Mount => ({ source: path, target: inside(path), readOnly: true });

/** Each part of a model by itself, so that no other file of its folder is seen inside. */
const modelMounts = (path: string): Mount[] => splitParts(path).map(mountOf);

/** What a container sees of the machine for a device word. */
function containerDevices(device: string): ContainerDevice[] {
  const [backend, index] = device.split(':');
  if (backend === 'cuda') return [{ by: 'cdi', name: `nvidia.com/gpu=${index ?? 'all'}` }];
  if (backend === 'rocm') return [node('/dev/kfd'), node('/dev/dri')];
  if (backend === 'vulkan') return [node('/dev/dri')];
  return backend === 'npu' ? [node('/dev/accel')] : [];
}

/** The device whose memory a choice of model goes by: a container that is handed no GPU has the machine's only. */
export const memoryDevice = ({ runner, device }: Pick<SlotConfig, 'runner' | 'device'>): string =>
  runner === 'container' && containerDevices(device).length === 0 ? 'cpu' : device;

const node = (path: string): ContainerDevice => ({ by: 'node', path });
