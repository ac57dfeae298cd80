/** Milliseconds in the unit that fits, `-` for unknown. */
export function duration(ms: number | null | undefined): string {
  if (ms == null) return '-';
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** The time of day in this machine's zone; with the date when it is not today. */
export function clock(at: Date, now: Date): string {
  const time = `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
  const sameDay = at.toDateString() === now.toDateString();
  return sameDay ? time : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/** A number, `-` for unknown. */
export const count = (value: number | null | undefined): string => (value == null ? '-' : String(value));

/** A rate with its significant digits, `-` for unknown. */
export function rate(value: number | null | undefined): string {
  if (value == null) return '-';
  return value >= 100 ? String(Math.round(value)) : String(Math.round(value * 10) / 10);
}
