const PLACEHOLDER = /\{([a-z_]+)\}/g;

/**
 * Fills `{name}` in a text with the value of that name. Braces around anything else stay as they are, and what was
 * filled in is not looked through again.
 */
export const interpolate = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(PLACEHOLDER, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] as string) : whole,
  );

/** `fill` for every value of a table. */
export const interpolateAll = (
  table: Readonly<Record<string, string>>,
  values: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(table).map(([name, text]) => [name, interpolate(text, values)]));
