import { kernelText } from './kernel-files.ts';

/** Parses the size of ZFS's cache and its minimum size from `arcstats`. Null when the lines are missing. */
export function parseArcstats(text: string): { size: number; minSize: number } | null {
  const value = (name: string) =>
    Number(new RegExp(`^${name}\\s+\\d+\\s+(\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const [size, least] = [value('size'), value('c_min')];
  return Number.isFinite(size) && Number.isFinite(least) ? { size, minSize: least } : null;
}

/**
 * Returns whether a container has its own memory figures (LXC). It does not pay for the host's cache,
 * although it sees the host's file.
 */
const hasOwnFigures = (root: string): boolean =>
  / \/proc\/meminfo /.test(kernelText(root, 'proc/self/mountinfo') ?? '');

/**
 * Returns the bytes that ZFS's cache releases when memory is short, which MemAvailable does not include. 0
 * without ZFS.
 */
export function zfsCacheBytes(root: string): number {
  const text = kernelText(root, 'proc/spl/kstat/zfs/arcstats');
  const stats = text === null ? null : parseArcstats(text);
  if (stats === null || hasOwnFigures(root)) return 0;
  return Math.max(0, stats.size - stats.minSize);
}
