import type { SetupView } from '../contract/setup.ts';
import { wildcardFamily } from '../lib/net/addresses.ts';

export type ReachChoice = 'machine' | 'network';

/** Bind hosts of the two choices. */
export const BIND_HOSTS: Readonly<Record<ReachChoice, string>> = { machine: '127.0.0.1', network: '0.0.0.0' };

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1']);

/** Which of the choices a bind host is. */
export function choiceOf(bindHost: string): SetupView['reach']['choice'] {
  if (LOOPBACK.has(bindHost)) return 'machine';
  return wildcardFamily(bindHost) !== null ? 'network' : 'other';
}

export interface ReachInput {
  /** Setting `bindHost` and its source. */
  readonly bindHost: { readonly value: string; readonly source: string };
  readonly listener: { readonly bindHost: string; readonly port: number };
  /** Whether systemd owns the socket. */
  readonly hasInheritedSocket: boolean;
  readonly requireAuth: boolean;
  /** Whether this machine has a public address without a setting that permits it. */
  readonly isExposed: boolean;
  /** Private addresses of this machine. */
  readonly addresses: readonly string[];
}

/** Whether the next start would be refused on this address (docs/spec/contract.md#public-without-auth). */
export const isRefused = (
  choice: ReachChoice,
  { requireAuth, isExposed }: Pick<ReachInput, 'requireAuth' | 'isExposed'>,
): boolean => choice === 'network' && isExposed && !requireAuth;

/**
 * Returns who can reach the gateway now and after its next start
 * (docs/spec/contract.md#exposed-without-auth). Pure.
 */
export function reachView(input: ReachInput): SetupView['reach'] {
  const { bindHost, listener, hasInheritedSocket } = input;
  return {
    choice: choiceOf(hasInheritedSocket ? listener.bindHost : bindHost.value),
    next_bind_host: hasInheritedSocket ? listener.bindHost : bindHost.value,
    restart_needed: !hasInheritedSocket && bindHost.value !== listener.bindHost,
    held_by: hasInheritedSocket ? 'socket' : bindHost.source === 'env' ? 'environment' : null,
    addresses: [...input.addresses],
    port: listener.port,
    public: isRefused('network', input),
  };
}
