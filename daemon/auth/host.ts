import { parseAuthority } from './authority.ts';
import type { LocalHostnames } from './local-hostnames.ts';

export type HostVerdict = 'ok' | 'malformed' | 'forbidden';

/** The configured host names of the gateway, in addition to those that are always allowed. */
export interface KnownHosts {
  readonly localHostnames: LocalHostnames;
  /** Whether SVC_ALLOWED_ORIGINS or `[security].allowed_hosts` names this host (`hostNames`). */
  isConfigured(name: string): boolean;
}

/** Suffixes under which no name can be registered publicly, so no foreign page can be served from them. */
const SAFE_SUFFIXES = [
  ...['local', 'lan', 'home', 'home.arpa', 'internal', 'localdomain', 'localhost'],
  ...['test', 'example', 'invalid', 'example.com', 'example.net', 'example.org'],
] as const;

type Rule = (name: string, known: KnownHosts) => boolean;

const isUnder = (name: string, suffix: string) => name === suffix || name.endsWith(`.${suffix}`);
const dotless: Rule = (name) => !name.includes('.');
const safeSuffix: Rule = (name) => SAFE_SUFFIXES.some((suffix) => isUnder(name, suffix));
const ownName: Rule = (name, { localHostnames }) => localHostnames.names.includes(name);
const resolverDomain: Rule = (name, { localHostnames: own }) =>
  own.searchDomains.some((domain) => isUnder(name, domain));
/** `<this host>.<tailnet>.ts.net`: only a tailnet assigns such names, and each to its own machine. */
const ownTailnetName: Rule = (name, { localHostnames: own }) => {
  if (!name.endsWith('.ts.net')) return false;
  const labels = name.split('.');
  return labels.length === 4 && own.names.includes(labels[0] as string);
};
const configured: Rule = (name, known) => known.isConfigured(name);

const RULES: readonly Rule[] = [dotless, safeSuffix, ownName, resolverDomain, ownTailnetName, configured];

/**
 * Returns whether the gateway responds under the request's Host. This protects against DNS rebinding, which
 * the Origin rules cannot detect because the attacker's Host equals the attacker's Origin. `hosts`: every
 * Host header, as sent. Ports do not matter. A missing, repeated or malformed Host gives `malformed` (400).
 */
export function checkHost(hosts: readonly string[], known: KnownHosts): HostVerdict {
  const authority = hosts.length === 1 ? parseAuthority(hosts[0] as string) : null;
  if (!authority) return 'malformed';
  if (authority.kind === 'ip') return 'ok';
  return RULES.some((rule) => rule(authority.host, known)) ? 'ok' : 'forbidden';
}

/**
 * Returns the host of each entry (`name`, `name:port` or `scheme://name:port`), normalised. Skips other
 * entries.
 */
export function hostNames(entries: readonly string[]): string[] {
  const names: string[] = [];
  for (const entry of entries) {
    const start = entry.indexOf('://');
    const authority = parseAuthority(start === -1 ? entry : entry.slice(start + 3));
    if (authority) names.push(authority.host);
  }
  return names;
}
