import type { Tier } from '../contract/auth.ts';
import type { GatewayEvents } from '../contract/events.ts';
import type { EventBus } from '../lib/async/event-bus.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';

/** What happened that may change the tier or the rights of somebody who is connected. */
export type AuthChange = GatewayEvents['auth']['change'] | 'settings';

/** Who asked for a change, for the audit trail. */
export interface Actor {
  readonly tier: Tier;
  readonly address: string;
}

/** Tells others what happened: the audit trail, the event stream, and whoever re-checks open sockets. */
export interface AuthEvents {
  /** One audit row. Never holds a key. */
  audit(action: string, by: Actor | undefined, details: Record<string, unknown>): void;
  emit(change: AuthChange, tier?: 'admin' | 'client'): void;
  onChange(listener: (change: AuthChange) => void): () => void;
}

export interface AuthEventsDeps {
  store: Pick<Store, 'audit'>;
  log: Log;
  bus?: EventBus<GatewayEvents>;
}

/** Neither a full database nor a failing listener undoes what has already happened: both are only logged. */
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
      // First those who cut what has lost its rights: they see nothing of what comes after.
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
