import type { SetupView } from '../contract/setup.ts';
import { wildcardFamily } from '../lib/net/ip-address.ts';

export type ReachChoice = 'machine' | 'network';

/** Bind hosts of the two choices. */
export const BIND_HOSTS: Readonly<Record<ReachChoice, string>> = { machine: '127.0.0.1', network: '0.0.0.0' };

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/** Which of the choices a bind host is. */
export function choiceOf(bindHost: string): SetupView['reach']['choice'] {
  if (LOOPBACK.has(bindHost)) return 'machine';
  return wildcardFamily(bindHost) !== null ? 'network' : 'other';
}

export interface ReachFacts {
  /** Setting `bindHost` and where it comes from. */
  readonly set: { readonly value: string; readonly source: string };
  readonly listener: { readonly bindHost: string; readonly port: number };
  /** systemd holds the socket. */
  readonly inherited: boolean;
  readonly requireAuth: boolean;
  /** This machine has an address on the internet, and nothing says that being there is meant. */
  readonly exposed: boolean;
  /** Private addresses of this machine. */
  readonly addresses: readonly string[];
}

/** Whether the next start would be refused on this address (docs/spec/contract.md#public-without-auth). */
export const isRefused = (
  choice: ReachChoice,
  { requireAuth, exposed }: Pick<ReachFacts, 'requireAuth' | 'exposed'>,
): boolean => choice === 'network' && exposed && !requireAuth;

/**
 * Returns who can reach the gateway now and after its next start
 * (docs/spec/contract.md#exposed-without-auth). Pure.
 */
export function reachView(facts: ReachFacts): SetupView['reach'] {
  const { set, listener, inherited } = facts;
  return {
    choice: choiceOf(inherited ? listener.bindHost : set.value),
    next_bind_host: inherited ? listener.bindHost : set.value,
    restart_needed: !inherited && set.value !== listener.bindHost,
    held_by: inherited ? 'socket' : set.source === 'env' ? 'environment' : null,
    addresses: [...facts.addresses],
    port: listener.port,
    public: isRefused('network', facts),
  };
}
