/** A field that holds a number, as it goes into a request; null when it is empty or no number. */
export function numberOf(text: string): number | null {
  const trimmed = text.trim();
  const value = Number(trimmed);
  return trimmed === '' || !Number.isFinite(value) ? null : value;
}

/** Why a field cannot be sent; null when it is empty or a number within the bounds. */
export function numberFault(
  label: string,
  text: string,
  least: number,
  most: number,
  whole = true,
): string | null {
  if (text.trim() === '') return null;
  const value = numberOf(text);
  const fits = value !== null && value >= least && value <= most && (!whole || Number.isInteger(value));
  return fits ? null : `${label} must be a ${whole ? 'whole ' : ''}number from ${least} to ${most}.`;
}

/** The lines of a field that hold anything. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** An object without the members that are null or empty: what is not said is left to the gateway. */
export function said(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== ''));
}
