const SIZES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1000,
  kib: 1024,
  mb: 1000 ** 2,
  mib: 1024 ** 2,
  gb: 1000 ** 3,
  gib: 1024 ** 3,
  tb: 1000 ** 4,
  tib: 1024 ** 4,
};
const FORM = /^(\d+(?:\.\d+)?)\s*([kmgt]i?b|b)?$/i;
/** Units of exact texts, largest first. */
const EXACT = ['TiB', 'GiB', 'MiB', 'TB', 'GB', 'MB', 'KiB', 'kB'] as const;

/** Parses `4 GB`, `1.5 GiB` or a plain number of bytes. Returns whole bytes; null for any other text. */
export function parseByteSize(text: string): number | null {
  const match = FORM.exec(text.trim());
  if (match === null) return null;
  const size = SIZES[(match[2] ?? 'b').toLowerCase()] as number;
  const bytes = Number(match[1]) * size;
  return size === 1 && !Number.isInteger(bytes) ? null : Math.round(bytes);
}

/** Formats bytes without rounding, in the largest unit that divides them: `4 GiB`, `300 MB`, `1234`. */
export function exactByteSize(bytes: number): string {
  const unit = EXACT.find((name) => bytes > 0 && bytes % (SIZES[name.toLowerCase()] as number) === 0);
  return unit === undefined ? String(bytes) : `${bytes / (SIZES[unit.toLowerCase()] as number)} ${unit}`;
}
