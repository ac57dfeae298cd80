import { existsSync } from 'node:fs';

/**
 * At least one of these exists when a program on Linux can reach a GPU: DRM, NVIDIA, AMD, WSL and embedded
 * boards.
 */
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
 * Returns false when this machine certainly has no GPU. In that case do not query the library for the
 * best device: it would try each GPU binary in its own process before it uses the CPU, which takes 0.4 s of
 * each load.
 */
export const canHaveCard = (platform = process.platform, exists = existsSync): boolean =>
  platform !== 'linux' || NODES.some((node) => exists(node));
