import { kernelText } from './kernel-files.ts';

/** Size of ZFS's cache and the size below which it never shrinks, from its `arcstats`; null when the text has no such lines. */
export function parseArcstats(text: string): { size: number; minSize: number } | null {
  const value = (name: string) =>
    Number(new RegExp(`^${name}\\s+\\d+\\s+(\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const [size, least] = [value('size'), value('c_min')];
  return Number.isFinite(size) && Number.isFinite(least) ? { size, minSize: least } : null;
}

/** A container that is shown figures of its own (LXC) does not pay for the cache of its host, whose file it sees all the same. */
const hasOwnFigures = (root: string): boolean =>
  / \/proc\/meminfo /.test(kernelText(root, 'proc/self/mountinfo') ?? '');

/** Bytes that ZFS's cache gives back when memory is short, which the kernel's MemAvailable does not count. 0 without ZFS. */
export function zfsCacheBytes(root: string): number {
  const text = kernelText(root, 'proc/spl/kstat/zfs/arcstats');
  const stats = text === null ? null : parseArcstats(text);
  if (stats === null || hasOwnFigures(root)) return 0;
  return Math.max(0, stats.size - stats.minSize);
}
