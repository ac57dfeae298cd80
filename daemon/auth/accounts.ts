import type { SessionRow } from '../contract/auth.ts';
import type { Actor, AuthEvents } from './auth-events.ts';
import { type Caller, readCredentials } from './credentials.ts';
import type { Guards } from './guards.ts';
import type { Keys } from './keys.ts';
import { isOverTls, login } from './login.ts';
import type { AuthRequest } from './request.ts';
import { clearCookieHeader } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';

/** Login, logout and the list of valid sessions. */
export interface Accounts {
  /** Throws `auth.invalid_key`. `secureCookie` defaults to whether the request used TLS. */
  login(key: string, request: AuthRequest, secureCookie?: boolean): { setCookie: string };
  /**
   * Returns a Set-Cookie value that clears the cookie of any caller. Also ends every session that its cookies
   * prove.
   */
  logout(request: AuthRequest): { setCookie: string };
  /** Sessions that are valid now; `current` marks that of the caller. Throws `store.unavailable`. */
  sessions(caller: Pick<Caller, 'sessionId'>): SessionRow[];
  /**
   * Ends every session with a new signing secret. Rejects when it cannot be written; no session has ended
   * then.
   */
  endSessions(by?: Actor): Promise<void>;
}

export interface AccountDeps {
  guards: Pick<Guards, 'address' | 'forwarding'>;
  keys: Keys;
  sessions: Sessions;
  events: AuthEvents;
}

export function createAccounts({ guards, keys, sessions, events }: AccountDeps): Accounts {
  return {
    login(key, request, secureCookie = isOverTls(request, guards.forwarding())) {
      const setCookie = login(key, secureCookie, { keys, sessions });
      events.audit('auth.login', { tier: 'admin', address: guards.address(request) }, {});
      events.emit('login');
      return { setCookie };
    },
    logout(request) {
      const revoked = readCredentials(request).cookies.filter((cookie) => sessions.revoke(cookie));
      if (revoked.length > 0) {
        events.audit('auth.logout', { tier: 'admin', address: guards.address(request) }, {});
        events.emit('logout');
      }
      return { setCookie: clearCookieHeader(isOverTls(request, guards.forwarding())) };
    },
    sessions: ({ sessionId }) => sessions.list(sessionId),
    async endSessions(by) {
      await sessions.endAll();
      events.audit('auth.sessions.end', by, {});
      events.emit('sessions_ended');
    },
  };
}
