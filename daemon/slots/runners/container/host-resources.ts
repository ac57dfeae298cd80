import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { LaunchFor } from '../../engines/engine.ts';
import type { ContainerDevice } from '../../engines/run-spec.ts';
import { ContainerStartError } from './container-start-error.ts';

/** Maximum number of nodes in one device folder. */
const MAX_NODES = 256;

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Throws ContainerStartError when a file or device that the container needs is missing or cannot be passed. The
 * container engine may run as root, so nothing is mounted that the gateway itself may not read.
 */
export function checkSources({ how }: LaunchFor<'container'>): void {
  for (const { source } of how.mounts) {
    if (!existsSync(source)) throw new ContainerStartError(`The file ${basename(source)} is absent.`);
    if (!isReadable(source)) throw new ContainerStartError(`The file ${basename(source)} is not readable.`);
    if (/[,"\n]/.test(source)) {
      throw new ContainerStartError(
        `The name ${basename(source)} contains characters that a mount path cannot have.`,
      );
    }
  }
  for (const device of how.devices) {
    if (device.by === 'node' && !existsSync(device.path)) {
      throw new ContainerStartError(`This machine has no ${basename(device.path)} device.`);
    }
  }
}

function nodesBelow(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .slice(0, MAX_NODES)
    .map((name) => join(path, name));
}

/** Returns the groups, except root's, that own device nodes: a user inside needs them to open the nodes. */
export function nodeGroups(devices: readonly ContainerDevice[]): number[] {
  const groups = new Set<number>();
  for (const device of devices) {
    if (device.by !== 'node') continue;
    for (const node of nodesBelow(device.path)) {
      const stat = statSync(node, { throwIfNoEntry: false });
      if (stat?.isCharacterDevice() && stat.gid !== 0) groups.add(stat.gid);
    }
  }
  return [...groups].sort((a, b) => a - b);
}

/** Returns a text that changes when the model's file is rewritten or replaced; empty without a file. */
export function modelStamp(path: string | null): string {
  const stat = path === null ? undefined : statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
}

/** Returns the pid on this host if the process really belongs to the container; otherwise null. */
export function hostPid(pid: number, containerId: string, proc = '/proc'): number | null {
  try {
    return pid > 1 && readFileSync(join(proc, String(pid), 'cgroup'), 'utf8').includes(containerId)
      ? pid
      : null;
  } catch {
    return null;
  }
}
