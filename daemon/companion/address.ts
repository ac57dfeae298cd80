import { isLoopback } from '../auth/addresses.ts';
import { parseAuthority } from '../auth/authority.ts';
import { wildcardFamily } from '../lib/net/ip-address.ts';
import type { CompanionPlan } from './companion-env.ts';

const local = (host: string): boolean => host === 'localhost' || isLoopback(host.replace(/^\[|\]$/g, ''));
const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host);

/**
 * Where a caller who came under this Host reaches the chat UI: the address that companion.env tells people (WEBUI_URL), else its port
 * on the name that he used, or on its own address. Null when its port is on the loopback address and he is elsewhere.
 */
export function companionAddress(
  plan: Pick<CompanionPlan, 'bindHost' | 'port' | 'isLoopback' | 'publicUrl'>,
  requestHost: string,
): string | null {
  if (plan.publicUrl !== null) return plan.publicUrl;
  const asked = parseAuthority(requestHost)?.host ?? null;
  const at = (host: string) => `http://${host}:${plan.port}/`;
  if (wildcardFamily(plan.bindHost) !== null) return asked === null ? null : at(asked);
  if (!plan.isLoopback) return at(bracketed(plan.bindHost));
  return asked !== null && local(asked) ? at(asked) : null;
}

/** Where this machine itself reaches a port that listens there: `http://HOST:PORT`. */
export function ownOrigin(bindHost: string, port: number): string {
  const every = wildcardFamily(bindHost);
  const host = every === null ? bindHost : every === 'IPv6' ? '::1' : '127.0.0.1';
  return `http://${bracketed(host)}:${port}`;
}
