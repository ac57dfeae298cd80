import { readFileSync } from 'node:fs';

/** Mount points in the words of `/proc/self/mountinfo`, which writes blanks and the like in octal. Pure. */
export function parseMounts(text: string): string[] {
  const points = text.split('\n').map((line) => line.split(' ')[4] ?? '');
  return points
    .filter((point) => point.startsWith('/'))
    .map((point) =>
      point.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
    );
}

/** The mount points of the moment; none where the kernel does not tell. Reading them asks no disk. */
export function mounts(): string[] {
  try {
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return [];
  }
}

/** The mount below the root that a path lies in by its name; null when it is none. Pure. */
export function mountOf(path: string, points: readonly string[]): string | null {
  const candidates = points.filter(
    (point) => point !== '/' && (path === point || path.startsWith(`${point}/`)),
  );
  return candidates.sort((a, b) => b.length - a.length)[0] ?? null;
}
