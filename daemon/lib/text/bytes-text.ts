const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Formats a number of bytes with a suitable unit. Returns `-` for an unknown value. */
export function formatBytes(value: number | null | undefined): string {
  if (value == null) return '-';
  const exponent = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)));
  const amount = value / 1024 ** exponent;
  return `${exponent === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[exponent]}`;
}
