import { kernelText } from './kernel-files.ts';

/** In the old hierarchy a number beyond this means "no limit". */
const NO_LIMIT = 2 ** 60;
const MAX_DEPTH = 32;

export interface CgroupLimits {
  /** Smallest memory limit of this group and its parents in bytes. Null: none. */
  memoryLimit: number | null;
  /** Smallest amount of bytes left below one of these limits. File cache counts as free. Null: no limit. */
  memoryLeft: number | null;
  /** CPU time in processors, for example 1.5. Null: no limit. */
  cpus: number | null;
}

interface Hierarchy {
  base: string;
  path: string;
  limit: string;
  used: string;
  /**
   * File pages, which the kernel drops when memory is short. Pages that were used twice are in the second
   * list.
   */
  cache: RegExp;
}

const V2 = { limit: 'memory.max', used: 'memory.current', cache: /^(?:in)?active_file (\d+)$/gm };
const V1 = {
  limit: 'memory.limit_in_bytes',
  used: 'memory.usage_in_bytes',
  cache: /^total_(?:in)?active_file (\d+)$/gm,
};

/** Returns the hierarchies of this process from `/proc/self/cgroup` (`0::/path` and `4:memory:/path`). */
export function parseHierarchies(text: string): Hierarchy[] {
  const found: Hierarchy[] = [];
  for (const line of text.split('\n')) {
    const [id, controllers = '', path = ''] = line.split(/:(.*?):(.*)/s);
    if (id === '0' && controllers === '') found.push({ base: 'sys/fs/cgroup', path, ...V2 });
    if (controllers.split(',').includes('memory')) found.push({ base: 'sys/fs/cgroup/memory', path, ...V1 });
  }
  return found;
}

/** Returns the group's folder and its parents, nearest first. `..` never leaves the tree. */
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

interface Level {
  limit: number;
  left: number;
}

/**
 * Returns every limit up to the root with the bytes left below it, or the whole limit when the usage is
 * unknown.
 */
function levels(root: string, tree: Hierarchy): Level[] {
  return upwards(tree.path).flatMap((part) => {
    const folder = `${tree.base}/${part}`;
    const limit = bytes(kernelText(root, `${folder}/${tree.limit}`));
    if (limit === null) return [];
    const used = bytes(kernelText(root, `${folder}/${tree.used}`)) ?? 0;
    const stat = kernelText(root, `${folder}/memory.stat`) ?? '';
    const cache = [...stat.matchAll(tree.cache)].reduce((sum, [, size]) => sum + Number(size), 0);
    return [{ limit, left: Math.max(0, limit - Math.max(0, used - cache)) }];
  });
}

const least = (values: readonly number[]): number | null =>
  values.length === 0 ? null : Math.min(...values);

/** Parses `cpu.max` (`150000 100000`) to a number of processors. Null for `max`. */
export function parseCpuMax(text: string | null): number | null {
  const [quota, period] = (text ?? '').trim().split(/\s+/).map(Number);
  return quota !== undefined && period !== undefined && quota > 0 && period > 0 ? quota / period : null;
}

/** Returns the limits of this process's group. A tree that cannot be read has no limits. */
export function readCgroup(root: string): CgroupLimits {
  const trees = parseHierarchies(kernelText(root, 'proc/self/cgroup') ?? '0::/');
  const limits = trees.flatMap((tree) => levels(root, tree));
  const quotas = trees
    .filter((tree) => tree.limit === V2.limit)
    .flatMap((tree) =>
      upwards(tree.path).map((part) => parseCpuMax(kernelText(root, `${tree.base}/${part}/cpu.max`))),
    )
    .filter((quota) => quota !== null);
  return {
    memoryLimit: least(limits.map(({ limit }) => limit)),
    memoryLeft: least(limits.map(({ left }) => left)),
    cpus: least(quotas),
  };
}
