import { readFileSync } from 'node:fs';

/**
 * Parses the mount points in `/proc/self/mountinfo`, which escapes blanks and similar characters in octal.
 * Pure.
 */
export function parseMounts(text: string): string[] {
  const points = text.split('\n').map((line) => line.split(' ')[4] ?? '');
  return points
    .filter((point) => point.startsWith('/'))
    .map((point) =>
      point.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
    );
}

/**
 * Returns the current mount points, or an empty list where the kernel does not report them. Does not access
 * any disk.
 */
export function mounts(): string[] {
  try {
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return [];
  }
}

/** Returns the mount point (other than `/`) that contains `path` by name, or null. Pure. */
export function mountOf(path: string, points: readonly string[]): string | null {
  const candidates = points.filter(
    (point) => point !== '/' && (path === point || path.startsWith(`${point}/`)),
  );
  return candidates.sort((a, b) => b.length - a.length)[0] ?? null;
}
