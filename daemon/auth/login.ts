import { GatewayError } from '../contract/errors.ts';
import { type Forwarding, forwardedTls } from './client-address.ts';
import type { Keys } from './keys.ts';
import { firstHeader } from './raw-headers.ts';
import type { AuthRequest } from './request.ts';
import { setCookieHeader } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';

/**
 * Returns true if a login used TLS, so that its cookie may be `Secure`: the Origin is https, or a
 * trusted proxy reports it. On a plain-HTTP network a browser would drop a `Secure` cookie.
 */
export function isOverTls(
  request: Pick<AuthRequest, 'peer' | 'rawHeaders'>,
  forwarding: Forwarding,
): boolean {
  const origin = firstHeader(request.rawHeaders, 'origin');
  return (origin !== undefined && /^https:\/\//i.test(origin)) || forwardedTls(request, forwarding);
}

/**
 * Exchanges the admin key for a new session and returns its Set-Cookie value
 * (docs/spec/specification.md#login-order, docs/spec/specification.md#login-errors,
 * docs/spec/specification.md#login-callers). Call this after the limiter. Throws `auth.invalid_key` for the
 * client key, for any other text, and for every text while no admin key is set. An existing session of the
 * caller stays valid.
 */
export function login(key: string, secure: boolean, deps: { keys: Keys; sessions: Sessions }): string {
  if (deps.keys.tierOf(key) !== 'admin') throw new GatewayError('auth.invalid_key');
  return setCookieHeader(deps.sessions.start(), secure);
}
