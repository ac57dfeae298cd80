const PLACEHOLDER = /\{([a-z_]+)\}/g;

/**
 * Replaces each `{name}` in a text by the value of that name. Leaves other braces unchanged and does not search
 * inserted values.
 */
export const interpolate = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] as string) : whole,
  );

/** Applies `interpolate` to every value of a table. */
export const interpolateAll = (
  table: Readonly<Record<string, string>>,
  values: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(table).map(([name, text]) => [name, interpolate(text, values)]));
