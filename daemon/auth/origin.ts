import { type Authority, parseAuthority } from './authority.ts';

/** Input of the Origin rules. */
export interface OriginInput {
  /** Every Origin header of the request, as sent. */
  readonly origins: readonly string[];
  /** Every Host header of the request, as sent. */
  readonly hosts: readonly string[];
  /** The allowlist in canonical form (`canonicalOrigins`). */
  readonly allowed: ReadonlySet<string>;
}

export interface ParsedOrigin {
  /** The canonical form in which origins are compared. */
  readonly canonical: string;
  /** Null for a scheme that has no web host (`chrome-extension:`): such an origin can only be listed. */
  readonly web: (Authority & { readonly defaultPort: number }) | null;
}

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\s]+)$/i;
/** A Map, because callers choose the scheme and an object would resolve `constructor` too. */
const DEFAULT_PORTS: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
]);

/** Parses one Origin value; null for `null`, an empty one, a list, a path, user information and everything unparsable. */
export function parseOrigin(text: string): ParsedOrigin | null {
  const match = text.length > 512 ? null : SCHEME.exec(text);
  if (!match) return null;
  const scheme = (match[1] as string).toLowerCase();
  const defaultPort = DEFAULT_PORTS.get(scheme);
  if (defaultPort === undefined) {
    return { canonical: `${scheme}://${(match[2] as string).toLowerCase()}`, web: null };
  }
  const authority = parseAuthority(match[2] as string);
  if (!authority) return null;
  const port = authority.port ?? defaultPort;
  const suffix = port === defaultPort ? '' : `:${port}`;
  return { canonical: `${scheme}://${authority.host}${suffix}`, web: { ...authority, defaultPort } };
}

/** The allowlist in the form of `parseOrigin(...).canonical`. Unparsable entries match nothing. */
export function canonicalOrigins(entries: readonly string[]): ReadonlySet<string> {
  return new Set(
    entries.map((entry) => parseOrigin(entry)?.canonical).filter((entry) => entry !== undefined),
  );
}

type Rule = (state: OriginInput) => 'ok' | null;

/** Rule 1: no Origin header. */
const withoutOrigin: Rule = ({ origins }) => (origins.length === 0 ? 'ok' : null);

/** Rule 2: the Origin is in SVC_ALLOWED_ORIGINS. Several Origin headers do not match. */
const listed: Rule = ({ origins, allowed }) => (listedOrigin(origins, allowed) === null ? null : 'ok');

/** Rule 3: the Origin's host and port equal the request's Host; a missing port means that of the Origin's scheme. */
const sameHost: Rule = ({ origins, hosts }) => {
  const web = origins.length === 1 ? parseOrigin(origins[0] as string)?.web : null;
  const host = hosts.length === 1 ? parseAuthority(hosts[0] as string) : null;
  if (!web || !host) return null;
  const samePort = (web.port ?? web.defaultPort) === (host.port ?? web.defaultPort);
  return samePort && web.host === host.host ? 'ok' : null;
};

const RULES: readonly Rule[] = [withoutOrigin, listed, sameHost];

/** Applies the four rules of docs/spec/specification.md#origin-check in order; the fourth refuses. */
export function checkOrigin(input: OriginInput): 'ok' | 'forbidden' {
  for (const rule of RULES) {
    if (rule(input) === 'ok') return 'ok';
  }
  return 'forbidden';
}

/** Returns the entry that allows an Origin; null for one that no entry can match. */
export function allowlistEntry(origins: readonly string[]): string | null {
  return origins.length === 1 ? (parseOrigin(origins[0] as string)?.canonical ?? null) : null;
}

/**
 * Returns the message of a refusal: the setting and the entry to add, or why no entry can help. `origins`: every
 * Origin header, as sent.
 */
export function originRefusal(origins: readonly string[]): string {
  const entry = allowlistEntry(origins);
  if (entry !== null) {
    return `The origin ${entry} may not call the gateway. To allow it, add it to SVC_ALLOWED_ORIGINS or to allowed_origins of [security]: SVC_ALLOWED_ORIGINS=${entry}`;
  }
  if (origins.length > 1)
    return 'There is more than one Origin header, so none of them may call the gateway.';
  const [origin = ''] = origins;
  const page = origin === 'null' || origin.toLowerCase().startsWith('file:');
  return page
    ? 'A page without an origin (a file, or a sandboxed frame) may not call the gateway, and SVC_ALLOWED_ORIGINS cannot list it. Serve the page over http or https, and list that origin.'
    : 'The Origin header is not an origin, so SVC_ALLOWED_ORIGINS cannot list it. Send scheme://host or scheme://host:port.';
}

/** The Origin exactly as sent when it is one of the allowlist, else null: what CORS may echo. */
export function listedOrigin(origins: readonly string[], allowed: ReadonlySet<string>): string | null {
  if (allowed.size === 0 || origins.length !== 1) return null;
  const parsed = parseOrigin(origins[0] as string);
  return parsed && allowed.has(parsed.canonical) ? (origins[0] as string) : null;
}

const CHECKED = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Whether the rules apply: POST, PUT, PATCH, DELETE and every upgrade. */
export const requiresOriginCheck = (method: string, upgrade: boolean): boolean =>
  upgrade || CHECKED.has(method);
