import { basename, isAbsolute } from 'node:path';
import { splitParts } from '../../models/split-files.ts';
import type { SlotConfig } from '../config/slot-config.ts';
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
/** Assumed minimum disk speed in bytes per millisecond. */
const BYTES_PER_MS = 20_000;
const MAX_START_MS = 1_800_000;
/** A running server is either reachable or not. */
const ATTACH_MS = 30_000;

/** Returns the milliseconds that a model of this size may take to load. */
export const loadLimitMs = (sizeBytes: number): number =>
  Math.min(MAX_START_MS, START_BASE_MS + Math.ceil(sizeBytes / BYTES_PER_MS));

/**
 * Returns the model source of an engine that takes a path or an engine-specific name. A running server only knows names.
 */
export const fileOrName = ({ runner, model }: SlotConfig): 'file' | 'name' =>
  runner !== 'attach' && model !== null && isAbsolute(model) ? 'file' : 'name';

/** Returns what all launches have in common, without a context window. */
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

/** Returns the run spec of an attached server, with the bearer key that `key_env` names. */
export const attachSpec = (config: SlotConfig, probe: Probe, unloadCall?: UnloadCall): AttachRunSpec => ({
  runner: 'attach',
  url: config.url as string,
  keyVariable: config.keyEnv,
  probe: probeOf(config, probe),
  ...(unloadCall && { unloadCall }),
});

export interface ProcessPlan {
  /** The engine's program, if the slot file names none. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly key: KeyDelivery;
  readonly probe: Probe;
  readonly install: string;
  readonly shared?: SharedProcess;
  readonly unfit?: readonly FatalOutput[];
  readonly savesSequences?: boolean;
}

/**
 * Returns the run spec of a program: the one of the slot file or the engine's own, then the arguments of the
 * engine, then those of the slot file.
 */
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
    ...(plan.savesSequences === true ? { savesSequences: true } : {}),
  };
}

export interface ContainerPlan {
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The port inside the container, unless the slot file sets one. */
  readonly port: number;
  /** Absolute paths of additional files that it reads; inside they are at `inside(path)`. */
  readonly extraFiles?: readonly string[];
  readonly key: KeyDelivery;
  readonly shmBytes?: number;
  readonly probe: Probe;
}

/**
 * Returns the run spec of an image: the one of the slot file or the engine's own, with the model's files mounted
 * read-only below `/models`.
 */
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

/** Returns the path inside a container of a mounted file. */
export const inside = (path: string): string => `/models/${basename(path)}`;

const mountOf = (path: string): Mount => ({ source: path, target: inside(path), readOnly: true });

/** Mounts each part of a model on its own, so that no other file of its folder is visible inside. */
const modelMounts = (path: string): Mount[] => splitParts(path).map(mountOf);

/** Returns the devices of a container for a device word. */
function containerDevices(device: string): ContainerDevice[] {
  const [backend, index] = device.split(':');
  if (backend === 'cuda') return [{ by: 'cdi', name: `nvidia.com/gpu=${index ?? 'all'}` }];
  if (backend === 'rocm') return [node('/dev/kfd'), node('/dev/dri')];
  if (backend === 'vulkan') return [node('/dev/dri')];
  return backend === 'npu' ? [node('/dev/accel')] : [];
}

/** Returns the device whose memory decides which model fits: a container without a GPU uses host memory only. */
export const memoryDevice = ({ runner, device }: Pick<SlotConfig, 'runner' | 'device'>): string =>
  runner === 'container' && containerDevices(device).length === 0 ? 'cpu' : device;

const node = (path: string): ContainerDevice => ({ by: 'node', path });
