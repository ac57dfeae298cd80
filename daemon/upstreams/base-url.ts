import { parseAuthority } from '../auth/authority.ts';
import { isLoopback, isPrivate, isUnreachable } from '../lib/net/addresses.ts';

/** Where an upstream is. */
export interface BaseUrl {
  /** The one way to write it. */
  readonly text: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly host: string;
  readonly port: number;
  /** The path that replaces the gateway's own `/v1`, without a trailing slash. */
  readonly base: string;
  /** Whether the host is in the own network, according to its name or address. */
  readonly isNear: boolean;
}

/** Suffixes that cannot be registered publicly, and that of a tailnet. */
const NEAR_SUFFIXES = [
  ...['local', 'lan', 'home', 'home.arpa', 'internal', 'localdomain', 'localhost', 'ts.net'],
  ...['test', 'example', 'invalid'],
];
const PATH = /^(\/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*$/;

/**
 * Parses a base URL as OpenAI clients write it: `https://host/api/v1`. Without a path `/v1` is used; trailing
 * slashes are ignored. Returns the reason as text for anything else: another scheme, user information, a
 * query, a fragment, dot segments, an address that is never connected to.
 */
export function parseBaseUrl(text: string): BaseUrl | string {
  if (/^https?:\/\/[^/?#\\\s]*@/i.test(text.trim()))
    return 'must not contain a user or a password; key_env names the variable of the key';
  const match = /^(https?):\/\/([^/?#\\@\s]+)([^?#\s]*)$/i.exec(text.trim());
  if (!match) return 'must be an address such as http://desk.lan:8000/v1, without user, query or fragment';
  const [, scheme, authorityText, rest] = match as unknown as [string, string, string, string];
  const authority = parseAuthority(authorityText);
  if (authority === null) return 'has no valid host';
  if (isUnreachable(authority.host)) return 'points to an address that the gateway never connects to';
  const path = rest.replace(/\/+$/, '');
  if (!PATH.test(path) || /\/\.\.?(\/|$)|%2e|%2f|%5c/i.test(path)) return 'has an invalid path';
  const secure = scheme.toLowerCase() === 'https';
  const port = authority.port ?? (secure ? 443 : 80);
  if (port === 0) return 'has no valid port';
  const origin = new URL(`${secure ? 'https' : 'http'}://${authority.host}:${port}`).origin;
  const base = path === '' ? '/v1' : path;
  const isNear = isNearHost(authority.host);
  return { text: `${origin}${base}`, origin, host: authority.host, port, base, isNear };
}

/**
 * Whether a host belongs to this machine or its network: by address, as a dotless name, or by a suffix that
 * cannot be registered publicly.
 */
function isNearHost(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  if (isLoopback(address) || isPrivate(address)) return true;
  return !/[.:]/.test(host) || NEAR_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}
