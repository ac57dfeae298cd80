import { BlockList } from 'node:net';
import { memoize } from '../async/memoize.ts';
import { addSubnet, canonicalIp, contains } from './addresses.ts';
import { remoteHostOf } from './remote-host.ts';

/** Which requests go through a proxy, from the usual variables. */
export interface ProxyRules {
  /** Address of the proxy for an origin, with its credentials. Null: connect directly. */
  proxyFor(origin: string): string | null;
  /** Variables that are set and cannot be used, with the reason. Their values may contain a password. */
  readonly problems: readonly string[];
}

/** Schemes of proxies that undici supports. */
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'socks5:', 'socks:']);
/** As curl writes a SOCKS5 proxy that resolves names. undici always lets the proxy resolve them. */
const REMOTE_NAMES = /^socks5h:/i;
/** Maximum origins whose proxy is stored. */
const MAX_ORIGINS = 128;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Reads a variable in lower or upper case, as curl does: lower case wins. */
type Environment = (name: string) => string | undefined;

/**
 * Reads HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, in lower or upper case. Null when no proxy is set. This machine
 * is never reached through a proxy.
 */
export function proxyRules(environment: Environment): ProxyRules | null {
  const problems: string[] = [];
  const proxyAt = (...names: string[]): string | null => {
    for (const name of names.flatMap((each) => [each.toLowerCase(), each])) {
      const text = environment(name)?.trim();
      if (text === undefined || text === '') continue;
      const address = proxyAddress(text);
      if (address !== null) return address;
      problems.push(`${name} is not the address of a proxy, such as http://proxy.lan:3128`);
    }
    return null;
  };
  const [https, http] = [proxyAt('HTTPS_PROXY', 'ALL_PROXY'), proxyAt('HTTP_PROXY', 'ALL_PROXY')];
  if (https === null && http === null && problems.length === 0) return null;
  const exceptions = parseExceptions(environment('no_proxy') ?? environment('NO_PROXY') ?? '');
  const proxyFor = (origin: string): string | null => {
    const url = new URL(origin);
    const proxy = url.protocol === 'https:' ? https : http;
    if (proxy === null || remoteHostOf(origin) === null || isException(url, exceptions)) return null;
    return proxy;
  };
  return { proxyFor: memoize(proxyFor, MAX_ORIGINS), problems: [...new Set(problems)] };
}

/**
 * Returns the address of a proxy. Without a scheme it is http, as for curl. A login that is not percent-encoded is used
 * literally. Null when the text is no address.
 */
function proxyAddress(text: string): string | null {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const address = full.replace(REMOTE_NAMES, 'socks5:');
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  const { protocol, hostname, username, password } = url;
  if (!SCHEMES.has(protocol) || hostname === '') return null;
  if (isEncoded(username + password)) return address;
  url.username = username.replaceAll('%', '%25');
  url.password = password.replaceAll('%', '%25');
  return url.href;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

interface Exception {
  readonly host: string;
  readonly port: string | null;
}

/** Parses NO_PROXY: names, which include their sub-domains, addresses, ranges, with or without a port, or `*`. */
function parseExceptions(text: string): Exception[] {
  return text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, host, port] = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(entry) ?? [];
      return { host: (host ?? entry).replace(/^\[|\]$/g, '').replace(/^\*?\./, ''), port: port ?? null };
    });
}

function isException({ hostname, port, protocol }: URL, exceptions: readonly Exception[]): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const used = port === '' ? (DEFAULT_PORTS[protocol] ?? '') : port;
  return exceptions.some(
    (one) => (one.port === null || one.port === used) && (one.host === '*' || isWithin(host, one.host)),
  );
}

function isWithin(host: string, entry: string): boolean {
  const address = canonicalIp(host);
  if (address === null) return host === entry || host.endsWith(`.${entry}`);
  const list = new BlockList();
  return addSubnet(list, entry) && contains(list, address);
}
