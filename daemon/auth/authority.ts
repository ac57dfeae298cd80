import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { memoize } from '../lib/async/memoize.ts';
import { decodeUtf8 } from './raw-headers.ts';

/** `host[:port]`, normalised: two authorities name the same host exactly when their `host` texts are equal. */
export interface Authority {
  /** Lower case, punycode, without a trailing dot; IPv6 in its shortest form inside brackets. */
  readonly host: string;
  readonly kind: 'ip' | 'name';
  /** Null when the text names none. */
  readonly port: number | null;
}

const MAX_LENGTH = 320;
const NAME = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/;
const PORT = /^[0-9]{0,5}$/;
/** What the URL standard reads as an IPv4 address in an unusual notation. */
const ENDS_IN_NUMBER = /(^|\.)([0-9]+|0x[0-9a-f]*)$/;

/**
 * Parses `host[:port]` strictly; returns null for anything else. User information, paths, spaces, zone ids,
 * percent signs and odd IPv4 notations (`127.1`, `0x7f.1`) are refused as a whole and never repaired.
 * Accepted input is read like the URL standard, except that one trailing dot is dropped
 * (docs/spec/specification.md#origin-check).
 */
export const parseAuthority = (text: string): Authority | null =>
  text.length === 0 || text.length > MAX_LENGTH ? null : parseMemoized(text);

/** Nearly every request has the same host. */
const parseMemoized = memoize(parseUncached);

function parseUncached(text: string): Authority | null {
  if (text.charCodeAt(0) === 0x5b) return parseBracketed(text);
  const colon = text.indexOf(':');
  const port = colon === -1 ? null : parsePort(text.slice(colon + 1));
  if (port === undefined) return null;
  const host = normalName(colon === -1 ? text : text.slice(0, colon));
  return host === null ? null : { host, kind: isIPv4(host) ? 'ip' : 'name', port };
}

function parseBracketed(text: string): Authority | null {
  const end = text.indexOf(']');
  const inner = text.slice(1, end);
  if (end === -1 || inner.includes('%') || !isIPv6(inner)) return null;
  const rest = text.slice(end + 1);
  if (rest !== '' && rest.charCodeAt(0) !== 0x3a) return null;
  const port = rest === '' ? null : parsePort(rest.slice(1));
  return port === undefined ? null : { host: new URL(`http://[${inner}]/`).hostname, kind: 'ip', port };
}

/** Returns the port, null for an empty one, or undefined for an invalid one. */
function parsePort(text: string): number | null | undefined {
  if (!PORT.test(text)) return undefined;
  if (text === '') return null;
  const port = Number(text);
  return port > 65_535 ? undefined : port;
}

/** Returns a host name or dotted IPv4 address in normal form, or null. */
export function normalName(raw: string): string | null {
  let name = raw.toLowerCase();
  if (/[^\0-\x7f]/.test(name)) {
    // Only non-ASCII letters may be mapped. ASCII characters must be valid already.
    const wide = decodeUtf8(raw);
    if (/[\0-,/:-@[-^`{-\x7f]/.test(wide)) return null;
    name = domainToASCII(wide).toLowerCase();
  }
  if (name.endsWith('.')) name = name.slice(0, -1);
  if (name.length > 253 || !NAME.test(name)) return null;
  if (ENDS_IN_NUMBER.test(name)) return isIPv4(name) ? name : null;
  return name;
}
