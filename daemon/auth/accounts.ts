import type { SessionRow } from '../contract/auth.ts';
import type { Actor, News } from './auth-events.ts';
import { type Caller, offeredBy } from './credentials.ts';
import type { Guards } from './guards.ts';
import type { Keys } from './keys.ts';
import { cameOverTls, login } from './login.ts';
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

export interface AccountOptions {
  guards: Pick<Guards, 'address' | 'forwarding'>;
  keys: Keys;
  sessions: Sessions;
  news: News;
}

export function createAccounts({ guards, keys, sessions, news }: AccountOptions): Accounts {
  return {
    login(key, request, secureCookie = cameOverTls(request, guards.forwarding())) {
      const setCookie = login(key, secureCookie, { keys, sessions });
      news.note('auth.login', { tier: 'admin', address: guards.address(request) }, {});
      news.tell('login');
      return { setCookie };
    },
    logout(request) {
      const { cookie } = offeredBy(request);
      if (cookie !== null && sessions.revoke(cookie)) {
        news.note('auth.logout', { tier: 'admin', address: guards.address(request) }, {});
        news.tell('logout');
      }
      return { setCookie: clearCookieHeader(cameOverTls(request, guards.forwarding())) };
    },
    sessions: ({ sessionId }) => sessions.list(sessionId),
    async endSessions(by) {
      await sessions.endAll();
      news.note('auth.sessions.end', by, {});
      news.tell('sessions_ended');
    },
  };
}
