/** Resolves a reference inside a schema: `#` with a JSON pointer. Undefined for any other reference. */
export function resolve(ref: string, root: unknown): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined;
  let here: unknown = root;
  for (const part of ref.split('/').slice(1)) {
    const key = unescaped(part);
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string, unknown>)[key];
  }
  return here;
}

function unescaped(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return part;
  }
}
