/**
 * Paths that an engine serves under another name: engines like llama.cpp serve native rerank only
 * (docs/spec/specification.md#native-rerank).
 */
const NATIVE: Readonly<Record<string, string>> = {
  '/v1/rerankings': '/v1/rerank',
  '/v1/reranking': '/v1/rerank',
};

/**
 * Returns path and query for an engine. The path is that of the route, never the caller's bytes. Removes
 * `api_key` from the query in any spelling and keeps every other parameter unchanged and in order.
 */
export function outgoingPath(route: string, url: string, nativeRerank = true): string {
  const path = (nativeRerank && NATIVE[route]) || route;
  const mark = url.indexOf('?');
  if (mark === -1) return path;
  const query = withoutKey((url.slice(mark + 1).split('#', 1)[0] as string) ?? '');
  return query === '' ? path : `${path}?${query}`;
}

/** Replaces `/v1` at the start of a path with the base of the target. */
export const underBase = (base: string, path: string): string =>
  base === '/v1' ? path : `${base}${path.slice('/v1'.length)}`;

function withoutKey(query: string): string {
  return query
    .split('&')
    .filter((parameter) => decodedName(parameter) !== 'api_key')
    .join('&');
}

function decodedName(parameter: string): string {
  const name = (parameter.split('=', 1)[0] as string).replaceAll('+', ' ');
  try {
    return decodeURIComponent(name).trim();
  } catch {
    return name;
  }
}
