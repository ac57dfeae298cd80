import { existsSync } from 'node:fs';

/** One of these is there wherever a program on Linux may reach a card: DRM, NVIDIA, AMD, WSL, and what small boards have. */
const NODES = [
  '/dev/dri',
  '/dev/nvidiactl',
  '/dev/kfd',
  '/dev/dxg',
  '/dev/nvmap',
  '/dev/mali0',
  '/dev/kgsl-3d0',
] as const;

/**
 * Whether this machine may have a card. Without any, a library that is asked for the best device would still load its binaries for
 * cards one by one, each in a process of its own, and end on the CPU: 0.4 s of each load.
 */
export const canHaveCard = (platform = process.platform, exists = existsSync): boolean =>
  platform !== 'linux' || NODES.some((node) => exists(node));
