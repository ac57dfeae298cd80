import { parseAuthority } from '../auth/authority.ts';
import { isLoopback, wildcardFamily } from '../lib/net/addresses.ts';
import type { CompanionPlan } from './companion-env.ts';

const local = (host: string): boolean => host === 'localhost' || isLoopback(host.replace(/^\[|\]$/g, ''));
const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/**
 * Returns the address of the chat UI for a caller that used this Host: WEBUI_URL of companion.env, else its
 * port on the same host name or on its own address. Returns null when its port is on loopback and the caller
 * is on another machine.
 */
export function companionAddress(
  plan: Pick<CompanionPlan, 'bindHost' | 'port' | 'isLoopback' | 'publicUrl'>,
  requestHost: string,
): string | null {
  if (plan.publicUrl !== null) return plan.publicUrl;
  const requested = parseAuthority(requestHost)?.host ?? null;
  const at = (host: string) => `http://${host}:${plan.port}/`;
  if (wildcardFamily(plan.bindHost) !== null) return requested === null ? null : at(requested);
  if (!plan.isLoopback) return at(bracketed(plan.bindHost));
  return requested !== null && local(requested) ? at(requested) : null;
}

/** Returns the local address of a listening port: `http://HOST:PORT`. */
export function ownOrigin(bindHost: string, port: number): string {
  const every = wildcardFamily(bindHost);
  const host = every === null ? bindHost : every === 'IPv6' ? '::1' : '127.0.0.1';
  return `http://${bracketed(host)}:${port}`;
}
