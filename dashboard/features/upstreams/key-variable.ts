/** The variable that holds the key of an upstream without a variable of its own. */
export const keyVariableOf = (upstream: string): string =>
  `UPSTREAM_${upstream.toUpperCase().replaceAll('-', '_')}`;
