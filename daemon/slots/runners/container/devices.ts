import type { EngineInfo } from '../../../lib/container-engine/engine-info.ts';
import type { ContainerDevice } from '../../engines/run-spec.ts';
import { ContainerStartError } from './container-start-error.ts';

/** The device settings of a container's host configuration. */
export interface DeviceConfig {
  readonly Devices?: readonly { PathOnHost: string; PathInContainer: string; CgroupPermissions: string }[];
  readonly DeviceRequests?: readonly {
    Driver: string;
    DeviceIDs: readonly string[];
    Capabilities: string[][];
  }[];
  readonly GroupAdd?: readonly string[];
  readonly Ulimits?: readonly { Name: string; Soft: number; Hard: number }[];
}

const NVIDIA = 'nvidia.com/gpu=';
const NO_CDI =
  'install the NVIDIA Container Toolkit and run nvidia-ctk (https://docs.nvidia.com/datacenter/cloud-native)';

/** Returns the device requests for CDI names, or for NVIDIA in Docker through its older runtime. */
function requests(names: readonly string[], about: EngineInfo): DeviceConfig['DeviceRequests'] {
  const nvidia = names.every((name) => name.startsWith(NVIDIA));
  if (about.kind === 'docker' && nvidia && about.runtimes.includes('nvidia')) {
    const ids = names.map((name) => name.slice(NVIDIA.length));
    return [{ Driver: 'nvidia', DeviceIDs: ids, Capabilities: [['gpu']] }];
  }
  if (about.cdi) return [{ Driver: 'cdi', DeviceIDs: names, Capabilities: [] }];
  const how = about.kind === 'podman' ? 'Podman supports GPU names from version 5 on' : NO_CDI;
  throw new ContainerStartError(`The container engine cannot hand out ${names.join(', ')}: ${how}.`);
}

/** Returns the groups that may open the device nodes inside. A rootless engine can only keep those of its user. */
function groupAdd(groups: readonly number[], { kind, rootless }: EngineInfo): readonly string[] {
  if (!rootless) return groups.map(String);
  return kind === 'podman' ? ['keep-groups'] : [];
}

/**
 * Returns the device settings of a container. `groups` are the numeric groups of the nodes on the host, because an
 * image need not know their names. Throws ContainerStartError when the engine cannot pass a device.
 */
export function deviceConfig(
  devices: readonly ContainerDevice[],
  groups: readonly number[],
  about: EngineInfo,
): DeviceConfig {
  const names = devices.flatMap((device) => (device.by === 'cdi' ? [device.name] : []));
  const nodes = devices.flatMap((device) => (device.by === 'node' ? [device.path] : []));
  const locked = nodes.some((path) => path.startsWith('/dev/accel')) && !about.rootless;
  return {
    ...(names.length > 0 ? { DeviceRequests: requests(names, about) } : {}),
    ...(nodes.length > 0
      ? {
          Devices: nodes.map((path) => ({
            PathOnHost: path,
            PathInContainer: path,
            CgroupPermissions: 'rwm',
          })),
          GroupAdd: groupAdd(groups, about),
        }
      : {}),
    ...(locked ? { Ulimits: [{ Name: 'memlock', Soft: -1, Hard: -1 }] } : {}),
  };
}
