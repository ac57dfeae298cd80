import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import type { Parsed } from './setting-types.ts';

/** Matches host and port of `host`, `host:port` or `scheme://host:port`. */
const ENTRY = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(\[[^\]]*\]|[^:[\]]*)(?::(\d{0,5}))?$/i;
const LABELS = /^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/i;
/** Matches names that the URL standard reads as an IPv4 address, in any notation. */
const NUMBER_AT_END = /(^|\.)([0-9]+|0x[0-9a-f]*)$/i;
/** ASCII characters that are not allowed in a host name. Only other scripts may be mapped. */
const ODD_ASCII = /[\0-,/:-@[-^`{-\x7f]/;

/** Accepts a host name or an address for the Host check, with or without a port, and returns it unchanged. */
export function hostName(entry: string): Parsed<string> {
  const [, host, port = ''] = ENTRY.exec(entry) ?? [];
  if (host !== undefined && Number(port) <= 65_535 && isHost(host)) return { ok: true, value: entry };
  return { ok: false, reason: 'is not a host name such as gateway.example.com, with or without a port' };
}

const isHost = (host: string): boolean =>
  host.startsWith('[') ? isIPv6(host.slice(1, -1)) && !host.includes('%') : isName(host);

function isName(host: string): boolean {
  if (ODD_ASCII.test(host)) return false;
  const name = (/[^\0-\x7f]/.test(host) ? domainToASCII(host) : host).replace(/\.$/, '');
  if (name.length > 253 || !LABELS.test(name)) return false;
  return !NUMBER_AT_END.test(name) || isIPv4(name);
}
