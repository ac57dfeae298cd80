import type { Tier } from '../contract/auth.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';

/** A change that may affect the tier or the rights of a connected client. */
export type AuthChange = GatewayEvents['auth']['change'] | 'settings';

/** The caller that made a change, for the audit trail. */
export interface Actor {
  readonly tier: Tier;
  readonly address: string;
}

/** Writes the audit trail and notifies the event stream and the owners of open sockets. */
export interface AuthEvents {
  /** Writes one audit row. `details` must not contain a key. */
  audit(action: string, by: Actor | undefined, details: Record<string, unknown>): void;
  emit(change: AuthChange, tier?: 'admin' | 'client'): void;
  onChange(listener: (change: AuthChange) => void): () => void;
}

export interface AuthEventsDeps {
  store: Pick<Store, 'audit'>;
  log: Log;
  bus?: EventBus<GatewayEvents>;
}

/** A full database or a failing listener cannot undo what happened. Both are only logged. */
export function createAuthEvents({ store, log, bus }: AuthEventsDeps): AuthEvents {
  const listeners = new Set<(change: AuthChange) => void>();
  const runAndLogErrors = (what: string, act: () => void) => {
    try {
      act();
    } catch (error) {
      log.error({ err: error }, `${what} failed`);
    }
  };
  return {
    audit(action, by, details) {
      const row = { action, tier: by?.tier ?? null, address: by?.address ?? null, details };
      runAndLogErrors('the audit entry', () => store.audit.add(row));
    },
    emit(change, tier) {
      // Listeners run first: they close sockets that have lost their rights, so these do not receive the
      // event.
      for (const listener of [...listeners])
        runAndLogErrors('a listener of auth changes', () => listener(change));
      if (change !== 'settings') bus?.emit('auth', tier === undefined ? { change } : { change, tier });
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
