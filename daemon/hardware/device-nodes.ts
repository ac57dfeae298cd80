import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tree } from './kernel-tree.ts';
import { pciAddress } from './pci-scan.ts';

export type NodeState = 'ok' | 'denied' | 'absent';
/** Checks whether this process may read and write the device node at an absolute path. */
export type NodeAccess = (path: string) => Promise<NodeState>;

/** The kernel's device classes, the entries that are nodes for engines, and their folder in /dev. */
const CLASSES = [
  { folder: 'sys/class/drm', entry: /^renderD\d+$/, dev: '/dev/dri' },
  { folder: 'sys/class/accel', entry: /^accel\d+$/, dev: '/dev/accel' },
] as const;

/** Returns device nodes by PCI address (or platform name). Connectors such as `card1-DP-1` are no devices. */
export async function readDeviceNodes(tree: Tree): Promise<Map<string, string[]>> {
  const nodes = new Map<string, string[]>();
  for (const { folder, entry, dev } of CLASSES) {
    for (const name of (await tree.names(folder)).filter((one) => entry.test(one))) {
      const target = await tree.target(`${folder}/${name}/device`);
      if (target === null) continue;
      const id = pciAddress(target) ?? target;
      nodes.set(id, [...(nodes.get(id) ?? []), `${dev}/${name}`]);
    }
  }
  return nodes;
}

/** Returns a check of real nodes below `root`. */
export function nodeAccess(root: string): NodeAccess {
  return (path) =>
    access(join(root === '' ? '/' : root, path), constants.R_OK | constants.W_OK).then(
      () => 'ok',
      (error: NodeJS.ErrnoException) =>
        error.code === 'ENOENT' || error.code === 'ENOTDIR' ? 'absent' : 'denied',
    );
}
