function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  const isList = Array.isArray(value) && value.every((entry) => typeof entry !== 'object');
  if (isList) return value.length === 0 ? 'none' : value.join(', ');
  return JSON.stringify(value);
}

/** What an entry of the audit trail tells beside its act: names with their values, lists as words. */
export const detailsText = (details: Readonly<Record<string, unknown>>): string =>
  Object.entries(details)
    .map(([key, value]) => `${key}: ${valueText(value)}`)
    .join('; ');
