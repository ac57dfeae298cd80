import type { SessionRow } from '../contract/auth.ts';
import type { Actor, AuthEvents } from './auth-events.ts';
import { type Caller, readCredentials } from './credentials.ts';
import type { Guards } from './guards.ts';
import type { Keys } from './keys.ts';
import { isOverTls, login } from './login.ts';
import type { AuthRequest } from './request.ts';
import { clearCookieHeader } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';

/** Logging in and out, and the list of those who are in. */
export interface Accounts {
  /** Throws `auth.invalid_key`. `secureCookie` by default as the request came (TLS in front or not). */
  login(key: string, request: AuthRequest, secureCookie?: boolean): { setCookie: string };
  /** Clears the cookie of every caller; a session that the cookie proves is ended on the server too. */
  logout(request: AuthRequest): { setCookie: string };
  /** Sessions that are valid now; `current` marks that of the caller. Throws `store.unavailable`. */
  sessions(caller: Pick<Caller, 'sessionId'>): SessionRow[];
  /** Ends every session by a new signing secret; rejects when that can't be written, then none has ended. */
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
      const { cookie } = readCredentials(request);
      if (cookie !== null && sessions.revoke(cookie)) {
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
