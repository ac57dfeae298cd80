import { createHash } from 'node:crypto';
import type { EngineInfo } from '../../../lib/container-engine/engine-info.ts';
import { fullImageName } from '../../../lib/container-engine/image-name.ts';
import type { LaunchFor } from '../../engines/engine.ts';
import { interpolate, interpolateAll } from '../interpolate.ts';
import { keyEnv } from '../key.ts';
import { NO_TELEMETRY } from '../worker-env.ts';
import { deviceConfig } from './devices.ts';
import { type Identity, labelsOf } from './labels.ts';

/** What a container is created from. */
export interface ContainerSpecInput {
  readonly launch: LaunchFor<'container'>;
  readonly about: EngineInfo;
  /** Numeric groups of the device nodes on the host. */
  readonly groups: readonly number[];
  /** The key file on the host, for engines that read their key from a file. */
  readonly keyFile: string;
  /** Changes when the model's file changes. */
  readonly modelStamp: string;
}

/** Path of the key file inside the container. */
const KEY_INSIDE = '/run/svc-gateway.key';
const MAX_PROCESSES = 8192;
/** Without this capability, root in a container could not read the files of the gateway's user. */
const RETAINED_CAPABILITIES = ['DAC_OVERRIDE'];
/** The output is read while it is produced. What the container engine keeps of it is bounded. */
const LOG_CONFIG = {
  docker: { Type: 'local', Config: { 'max-size': '10m', 'max-file': '2' } },
  podman: { Type: 'k8s-file', Config: { 'max-size': '10mb' } },
} as const;

/** Returns the name of a published port in the API. */
export const portName = (port: number): string => `${port}/tcp`;

function mountsOf({ launch, keyFile }: ContainerSpecInput) {
  const { mounts, key } = launch.how;
  const keyMount = key.by === 'file' ? [{ source: keyFile, target: KEY_INSIDE, readOnly: true }] : [];
  return [...mounts, ...keyMount].map(({ source, target, readOnly }) => ({
    Type: 'bind',
    Source: source,
    Target: target,
    ReadOnly: readOnly,
  }));
}

function hostConfig(input: ContainerSpecInput) {
  const { launch, about, groups } = input;
  const { port, shmBytes, memoryBytes = null, devices } = launch.how;
  return {
    NetworkMode: 'bridge',
    PortBindings: { [portName(port)]: [{ HostIp: '127.0.0.1', HostPort: '' }] },
    Mounts: mountsOf(input),
    CapDrop: ['ALL'],
    CapAdd: RETAINED_CAPABILITIES,
    SecurityOpt: ['no-new-privileges'],
    RestartPolicy: { Name: 'no' },
    PidsLimit: MAX_PROCESSES,
    LogConfig: LOG_CONFIG[about.kind],
    ...(shmBytes === null ? {} : { ShmSize: shmBytes }),
    ...(memoryBytes === null ? {} : { Memory: memoryBytes, MemorySwap: memoryBytes }),
    ...deviceConfig(devices, groups, about),
  };
}

/**
 * Returns the request body that creates the container. Throws ContainerStartError for devices that the engine
 * cannot pass.
 */
export function containerBody(input: ContainerSpecInput, identity: Partial<Identity>, key: string) {
  const { launch } = input;
  const { how } = launch;
  const values = {
    host: '0.0.0.0',
    port: String(how.port),
    model: how.modelPath ?? '',
    key_file: KEY_INSIDE,
  };
  const env = { ...NO_TELEMETRY, ...interpolateAll(how.env, values), ...launch.env, ...keyEnv(how.key, key) };
  return {
    Image: fullImageName(how.image),
    ...(how.args.length === 0 ? {} : { Cmd: how.args.map((arg) => interpolate(arg, values)) }),
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: labelsOf(identity),
    ExposedPorts: { [portName(how.port)]: {} },
    HostConfig: hostConfig(input),
  };
}

/** Arguments that set the number of threads, which depends on what else runs at the moment. */
const THREAD_ARGUMENTS: ReadonlySet<string | undefined> = new Set(['-t', '--threads']);

function withoutThreadCounts(launch: LaunchFor<'container'>): LaunchFor<'container'> {
  const args = launch.how.args.map((arg, index, all) => (THREAD_ARGUMENTS.has(all[index - 1]) ? '' : arg));
  return { ...launch, how: { ...launch.how, args } };
}

/** Returns a digest of everything that distinguishes containers: equal digests serve the same. */
export function configDigest(input: ContainerSpecInput): string {
  const launch = withoutThreadCounts(input.launch);
  const { modelId, context, parallel, how } = launch;
  const text = JSON.stringify([
    containerBody({ ...input, launch }, {}, ''),
    { modelId, context, parallel, probe: how.probe, key: how.key, stamp: input.modelStamp },
  ]);
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
