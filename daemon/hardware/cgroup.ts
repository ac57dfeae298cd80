import { kernelText } from './kernel-files.ts';

/** A number beyond this is the old hierarchy's way to say "no limit". */
const NO_LIMIT = 2 ** 60;
const MAX_DEPTH = 32;

export interface CgroupLimits {
  /** Smallest memory limit on the way up, bytes; null = none. */
  memoryLimit: number | null;
  /** Bytes in use below that limit, without cache that can be dropped. */
  memoryUsed: number | null;
  /** Processors' worth of time, for example 1.5; null = none. */
  cpus: number | null;
}

interface Hierarchy {
  base: string;
  path: string;
  limit: string;
  used: string;
  cache: RegExp;
}

const V2 = { limit: 'memory.max', used: 'memory.current', cache: /^inactive_file (\d+)$/m };
const V1 = {
  limit: 'memory.limit_in_bytes',
  used: 'memory.usage_in_bytes',
  cache: /^total_inactive_file (\d+)$/m,
};

/** Which trees to look in, from `/proc/self/cgroup` (`0::/path` and `4:memory:/path`). */
export function parseHierarchies(text: string): Hierarchy[] {
  const found: Hierarchy[] = [];
  for (const line of text.split('\n')) {
    const [id, controllers = '', path = ''] = line.split(/:(.*?):(.*)/s);
    if (id === '0' && controllers === '') found.push({ base: 'sys/fs/cgroup', path, ...V2 });
    if (controllers.split(',').includes('memory')) found.push({ base: 'sys/fs/cgroup/memory', path, ...V1 });
  }
  return found;
}

/** The group's folder and all above it, nearest first; `..` never leaves the tree. */
function upwards(path: string): string[] {
  const parts = path
    .split('/')
    .filter((part) => part !== '' && part !== '..')
    .slice(0, MAX_DEPTH);
  return parts.map((_, index) => parts.slice(0, parts.length - index).join('/')).concat('');
}

function bytes(text: string | null): number | null {
  const value = Number(text?.trim() || Number.NaN);
  return Number.isFinite(value) && value < NO_LIMIT ? value : null;
}

function tightest(root: string, tree: Hierarchy): Pick<CgroupLimits, 'memoryLimit' | 'memoryUsed'> {
  let best: { folder: string; limit: number } | null = null;
  for (const part of upwards(tree.path)) {
    const folder = `${tree.base}/${part}`;
    const limit = bytes(kernelText(root, `${folder}/${tree.limit}`));
    if (limit !== null && (best === null || limit < best.limit)) best = { folder, limit };
  }
  if (best === null) return { memoryLimit: null, memoryUsed: null };
  const used = bytes(kernelText(root, `${best.folder}/${tree.used}`));
  const cache = Number(tree.cache.exec(kernelText(root, `${best.folder}/memory.stat`) ?? '')?.[1] ?? 0);
  return { memoryLimit: best.limit, memoryUsed: used === null ? null : Math.max(0, used - cache) };
}

/** Processors' worth of time from `cpu.max` (`150000 100000`); null for `max`. */
export function parseCpuMax(text: string | null): number | null {
  const [quota, period] = (text ?? '').trim().split(/\s+/).map(Number);
  return quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : null;
}

/** Limits of the group this process runs in. A tree that can't be read limits nothing. */
export function readCgroup(root: string): CgroupLimits {
  const trees = parseHierarchies(kernelText(root, 'proc/self/cgroup') ?? '0::/');
  const limits = trees.map((tree) => tightest(root, tree)).filter((one) => one.memoryLimit !== null);
  const [memory] = limits.sort((a, b) => (a.memoryLimit ?? 0) - (b.memoryLimit ?? 0));
  const quotas = trees
    .filter((tree) => tree.limit === V2.limit)
    .flatMap((tree) =>
      upwards(tree.path).map((part) => parseCpuMax(kernelText(root, `${tree.base}/${part}/cpu.max`))),
    )
    .filter((quota) => quota !== null);
  return {
    memoryLimit: memory?.memoryLimit ?? null,
    memoryUsed: memory?.memoryUsed ?? null,
    cpus: quotas.length === 0 ? null : Math.min(...quotas),
  };
}
