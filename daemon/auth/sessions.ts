import { randomBytes } from 'node:crypto';
import type { SessionRow } from '../contract/auth.ts';
import type { Log } from '../lib/log.ts';
import type { Store } from '../store/store.ts';
import { issueCookie, readCookie, SESSION_TTL_S } from './session-cookie.ts';
import type { SigningSecret } from './signing-secret.ts';

/**
 * Browser sessions: a signed cookie proves a session; the store records which ones were revoked by logout
 * (docs/spec/specification.md#session).
 */
export interface Sessions {
  /** Starts a session of 8 hours and returns its cookie value. Ids are never reused. */
  start(): string;
  /** The id of the session that a cookie value proves now, or null. */
  idOf(cookie: string): string | null;
  /** Revokes the session that a cookie value proves, until its expiry. Returns false when it proves none. */
  revoke(cookie: string): boolean;
  /** Sessions that are valid now. Throws `store.unavailable`. */
  list(current: string | null): SessionRow[];
  /**
   * Ends every session by creating a new signing secret. Throws when it cannot be replaced; no session has
   * ended then.
   */
  endAll(): Promise<void>;
}

export interface SessionDeps {
  secret: SigningSecret;
  store: Pick<Store, 'sessions'>;
  log: Log;
  /** Unix milliseconds. */
  now?: () => number;
}

export function createSessions({ secret, store, log, now = Date.now }: SessionDeps): Sessions {
  const nowS = () => Math.floor(now() / 1000);
  const valid = (cookie: string) => {
    const session = readCookie(secret.current(), cookie, nowS());
    return session && !store.sessions.isRevoked(session.sessionId) ? session : null;
  };
  /** Logs a failed write. The cookie is valid or revoked without it, so the request continues. */
  const writeOrLog = (what: string, write: () => void) => {
    try {
      write();
    } catch (error) {
      log.warn({ err: error }, `the database could not record ${what}`);
    }
  };
  return {
    start() {
      const sessionId = randomBytes(16).toString('hex');
      const createdS = nowS();
      const expiresAt = createdS + SESSION_TTL_S;
      writeOrLog('a session', () => {
        store.sessions.prune(createdS);
        store.sessions.create(sessionId, createdS, expiresAt);
      });
      return issueCookie(secret.current(), { sessionId, expiresAt });
    },
    idOf: (cookie) => valid(cookie)?.sessionId ?? null,
    revoke(cookie) {
      const session = valid(cookie);
      if (!session) return false;
      writeOrLog('a logout', () => store.sessions.revoke(session.sessionId, session.expiresAt));
      return true;
    },
    list: (current) =>
      store.sessions.active(nowS()).map(({ id, created_at, expires_at }) => ({
        id8: id.slice(0, 8),
        created_at,
        expires_at,
        current: id === current,
      })),
    async endAll() {
      await secret.renew();
      writeOrLog('the end of all sessions', () => store.sessions.clear());
    },
  };
}
