function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const isList = Array.isArray(value) && value.every((entry) => typeof entry !== 'object');
  if (isList) return value.length === 0 ? 'none' : value.join(', ');
  return JSON.stringify(value);
}

/** Names whose own word says too little to a reader. */
const NAMES: Readonly<Record<string, string>> = {
  asked: 'asked for',
  effective: 'in effect',
  source: 'decided by',
};
const nameOf = (key: string): string => NAMES[key] ?? key.replaceAll('_', ' ');

/** What an entry of the audit trail tells beside its act: names with their values, lists as words. */
export const detailsText = (details: Readonly<Record<string, unknown>>): string =>
  Object.entries(details)
    .map(([key, value]) => `${nameOf(key)}: ${valueText(value)}`)
    .join(' · ');
