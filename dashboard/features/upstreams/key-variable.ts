/** The variable that holds the key of an upstream without its own variable. */
export const keyVariableOf = (upstream: string): string =>
  `UPSTREAM_${upstream.toUpperCase().replaceAll('-', '_')}`;
