function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const isList = Array.isArray(value) && value.every((entry) => typeof entry !== 'object');
  if (isList) return value.length === 0 ? 'none' : value.join(', ');
  return JSON.stringify(value);
}

/** Labels for keys whose name is unclear. */
const NAMES: Readonly<Record<string, string>> = {
  asked: 'requested',
  effective: 'in effect',
  source: 'source',
};
const nameOf = (key: string): string => NAMES[key] ?? key.replaceAll('_', ' ');

/** Formats the details of an audit entry as labelled values. */
export const detailsText = (details: Readonly<Record<string, unknown>>): string =>
  Object.entries(details)
    .map(([key, value]) => `${nameOf(key)}: ${valueText(value)}`)
    .join(' · ');
