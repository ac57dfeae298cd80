/** Parses a number field; null when it is empty or not a number. */
export function numberOf(text: string): number | null {
  const trimmed = text.trim();
  const value = Number(trimmed);
  return trimmed === '' || !Number.isFinite(value) ? null : value;
}

/** Validates a number field; null when it is empty or within the bounds. */
export function numberFault(
  label: string,
  text: string,
  min: number,
  max: number,
  whole = true,
): string | null {
  if (text.trim() === '') return null;
  const value = numberOf(text);
  const fits = value !== null && value >= min && value <= max && (!whole || Number.isInteger(value));
  return fits ? null : `${label} must be a ${whole ? 'whole ' : ''}number from ${min} to ${max}.`;
}

/** The non-empty lines of a field. */
export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Drops null and empty members, so that the gateway uses its defaults. */
export function definedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== ''));
}
