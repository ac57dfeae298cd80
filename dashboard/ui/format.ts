const LOCALE = 'en';

const plain = (digits: number): Intl.NumberFormat =>
  new Intl.NumberFormat(LOCALE, { minimumFractionDigits: digits, maximumFractionDigits: digits });
const whole = new Intl.NumberFormat(LOCALE);
const unit = (name: string, digits = 0): Intl.NumberFormat =>
  new Intl.NumberFormat(LOCALE, {
    style: 'unit',
    unit: name,
    unitDisplay: 'short',
    maximumFractionDigits: digits,
  });
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto', style: 'short' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** A count with thousands separators. */
export function count(value: number): string {
  return whole.format(value);
}

const SIZES = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Bytes in the unit that fits, with two or three significant digits: `13 MiB`, `3.4 GiB`, `126 GiB`. */
export function byteSize(bytes: number): string {
  // A value that rounds up to the next unit is shown in it.
  const exponent = Math.floor(Math.log2(Math.max(1, Math.abs(bytes) * 1.0005)) / 10);
  const power = Math.min(exponent, SIZES.length - 1);
  const value = bytes / 1024 ** power;
  return `${plain(power > 2 && value < 100 ? 1 : 0).format(value)} ${SIZES[power]}`;
}

/** Transfer rate: `850 KiB/s`, `12.5 MiB/s`, `110 MiB/s`. */
export function byteRate(perSecond: number): string {
  const mib = perSecond / 1024 ** 2;
  if (mib < 1) return `${plain(0).format(perSecond / 1024)} KiB/s`;
  return `${plain(mib < 100 ? 1 : 0).format(mib)} MiB/s`;
}

/** Tokens per second. */
export function tokenRate(perSecond: number): string {
  return `${plain(perSecond < 10 ? 1 : 0).format(perSecond)} tok/s`;
}

const STEPS: ReadonlyArray<readonly [string, number]> = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** Duration in milliseconds, in the unit that fits: `850 ms`, `1.2 sec`, `42 sec`, `7 hr 42 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return unit('millisecond').format(Math.max(0, Math.round(ms)));
  const seconds = ms / 1000;
  if (seconds < 10) return unit('second', 1).format(seconds);
  if (seconds < 60) return unit('second').format(Math.floor(seconds));
  const at = STEPS.findIndex(([, size]) => seconds >= size);
  const [name, size] = STEPS[at] ?? ['minute', 60];
  const first = unit(name).format(Math.floor(seconds / size));
  const next = STEPS[at + 1];
  const rest = next ? Math.floor((seconds % size) / next[1]) : 0;
  return next && rest > 0 ? `${first} ${unit(next[0]).format(rest)}` : first;
}

/** Duration of something that is running: seconds only in the first minute, so that it does not flicker. */
export function steadyDuration(ms: number): string {
  return duration(ms < 60_000 ? Math.floor(Math.max(0, ms) / 1000) * 1000 : Math.floor(ms / 60_000) * 60_000);
}

/** Relative time between two Unix milliseconds; under five seconds is "now". */
export function ago(at: number, now: number): string {
  const seconds = (at - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 5) return 'now';
  if (size < 60) return relative.format(Math.round(seconds), 'second');
  if (size < 3600) return relative.format(Math.trunc(seconds / 60), 'minute');
  if (size < 86_400) return relative.format(Math.trunc(seconds / 3600), 'hour');
  return relative.format(Math.trunc(seconds / 86_400), 'day');
}

/** The exact date and time in the locale of the browser. */
export function moment(at: number): string {
  return exact.format(at);
}

/** The time of day in the locale of the browser. */
export function timeOfDay(at: number): string {
  return clock.format(at);
}
