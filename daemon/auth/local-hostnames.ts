import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { normalName } from './authority.ts';

/** The names of this machine, according to its own files. */
export interface LocalHostnames {
  /** Host name, its short form, and what /etc/hosts calls the same machine; normalised. */
  readonly names: readonly string[];
  /** The search domains of its resolver that have a dot; a single label could be a public top-level domain. */
  readonly searchDomains: readonly string[];
}

const MAX_LINES = 4096;
const MAX_NAMES = 64;

/** The words of each line of a hosts-like file, comments cut off. */
function wordLines(text: string): string[][] {
  return text
    .split('\n', MAX_LINES)
    .map((line) =>
      line
        .replace(/[#;].*$/, '')
        .trim()
        .split(/\s+/),
    )
    .filter((words) => words.length > 1);
}

/** The dotted search domains of a resolv.conf; as the resolver does, the last `search` or `domain` line counts. */
export function searchDomainsOf(resolvConf: string): string[] {
  let domains: string[] = [];
  for (const [keyword, ...rest] of wordLines(resolvConf)) {
    if (keyword === 'search') domains = rest;
    if (keyword === 'domain') domains = rest.slice(0, 1);
  }
  const normal = domains.slice(0, MAX_NAMES).map(normalName);
  return normal.filter((name): name is string => name?.includes('.') === true);
}

/** Returns every name of this machine: its host name, the short form, and their aliases in a hosts file. */
export function namesOf(host: string, hosts: string): string[] {
  const full = normalName(host);
  if (full === null) return [];
  const names = new Set([full, full.split('.')[0] as string]);
  for (const [, ...aliases] of wordLines(hosts)) {
    const normal = aliases.map(normalName).filter((name) => name !== null);
    if (!normal.includes(full)) continue;
    for (const name of normal) if (names.size < MAX_NAMES) names.add(name);
  }
  return [...names];
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Reads the names of this machine once, at start. A missing file means no names, never an error. */
export function readLocalHostnames(etc = '/etc'): LocalHostnames {
  return {
    names: namesOf(hostname(), readText(`${etc}/hosts`)),
    searchDomains: searchDomainsOf(readText(`${etc}/resolv.conf`)),
  };
}
