/** The parts of a request target (RFC 9112 section 3.2), parsed once for matching, guards and handlers. */
export interface RequestTarget {
  /** Percent-encoded as received. `*` for `OPTIONS *`. */
  readonly path: string;
  /** Without the question mark. Empty when absent. */
  readonly query: string;
  /** `host[:port]` of an absolute-form target, otherwise null. */
  readonly authority: string | null;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)([/?#].*)?$/i;

/**
 * Parses a raw request target. Returns null when it is neither origin form, absolute form nor `*`. Removes a
 * fragment.
 */
export function splitTarget(raw: string): RequestTarget | null {
  if (raw === '*') return { path: '*', query: '', authority: null };
  if (raw.charCodeAt(0) === 0x2f) return withPath(raw, null);
  const match = ABSOLUTE.exec(raw);
  if (!match) return null;
  const rest = match[2] ?? '';
  return withPath(rest.startsWith('/') ? rest : `/${rest}`, match[1] as string);
}

function withPath(text: string, authority: string | null): RequestTarget {
  const hash = text.indexOf('#');
  const clean = hash === -1 ? text : text.slice(0, hash);
  const mark = clean.indexOf('?');
  if (mark === -1) return { path: clean, query: '', authority };
  return { path: clean.slice(0, mark), query: clean.slice(mark + 1), authority };
}

/** The characters that Node's parser accepts in a target and `url.parse` removes or ends it with. */
const SEPARATORS = /[\t\f\xa0]/g;

/**
 * Returns path and query for Koa, whose parser reads other forms of a target differently. Equal to the raw target of
 * any ordinary request.
 */
export function originForm({ path, query }: RequestTarget): string {
  const text = query === '' ? path : `${path}?${query}`;
  return SEPARATORS.test(text) ? text.replace(SEPARATORS, encodeURIComponent) : text;
}

/** Returns whether the path contains a literal `.` or `..` segment. Such a path matches no route. */
export function hasDotSegment(path: string): boolean {
  return path.includes('/.') && /\/\.\.?(\/|$)/.test(path);
}
