/**
 * Returns true if `text` matches `pattern`, in which `*` matches any characters, including slashes. All other
 * characters match themselves.
 */
export function matchesGlob(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Whether a model id passes the filters: included (an empty list includes all) and not excluded. */
export function isWanted(id: string, include: readonly string[], exclude: readonly string[]): boolean {
  const on = (patterns: readonly string[]) => patterns.some((pattern) => matchesGlob(pattern, id));
  return (include.length === 0 || on(include)) && !on(exclude);
}
