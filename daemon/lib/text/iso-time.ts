let lastSecond = Number.NaN;
let prefix = '';

/**
 * Formats Unix milliseconds as `Date.toISOString` does. Caches the text of the second, which many calls
 * share.
 */
export function isoTime(ms: number): string {
  const second = Math.floor(ms / 1000);
  if (second !== lastSecond) {
    prefix = new Date(second * 1000).toISOString().slice(0, -'000Z'.length);
    lastSecond = second;
  }
  const rest = ms - second * 1000;
  return `${prefix}${rest < 10 ? '00' : rest < 100 ? '0' : ''}${rest}Z`;
}
