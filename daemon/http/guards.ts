import type { IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Auth, AuthRequest } from '../auth/auth.ts';
import type { Caller, RefusedCredential } from '../auth/credentials.ts';
import { GatewayError } from '../contract/errors.ts';
import type { MatchedRoute } from '../contract/routes.ts';
import type { Log } from '../lib/log.ts';
import type { RequestTarget } from '../lib/net/request-target.ts';
import type { Call } from '../routes/handler.ts';
import { authRequest } from './call.ts';
import { checkFraming, checkNoUpgradeBody, malformed } from './framing.ts';
import type { Match } from './matcher.ts';

/** The route that runs, or none with the methods of its path. */
type Target = Pick<Match, 'route' | 'allow'>;

export interface GuardDeps {
  auth: Auth;
  log: Log;
}

/** A request with accepted framing, Host and Origin. Its tier is not checked yet. */
export interface Admitted {
  target: RequestTarget;
  auth: AuthRequest;
}

/**
 * The Host check (docs/spec/contract.md#host-check): refuses while enforcement is off, only logs while it is
 * on.
 */
export function guardHost(deps: GuardDeps, request: AuthRequest): void {
  const verdict = deps.auth.host(request);
  if (verdict === 'ok') return;
  if (verdict === 'malformed') throw malformed('The Host header is malformed.');
  if (!deps.auth.enforcement().require_auth) throw new GatewayError('auth.host_forbidden');
  deps.log.debug({ event: 'host.unlisted' }, 'request under a host name that is not listed');
}

/** Parse and framing checks, then Host, in that order. Origin follows with `guardOrigin`. */
export function admit(deps: GuardDeps, req: IncomingMessage, upgrade: boolean): Admitted {
  const target = checkFraming(req.method ?? 'GET', req.url ?? '', req.rawHeaders);
  if (upgrade) checkNoUpgradeBody(req.headers);
  const auth = authRequest(req, upgrade);
  deps.auth.observeForwarding(auth);
  guardHost(deps, auth);
  return { target, auth };
}

/**
 * Applies the Origin rules 1–4 (docs/spec/specification.md#origin-check). Throws 403 `auth.origin_forbidden`.
 */
export function guardOrigin(deps: GuardDeps, request: AuthRequest): void {
  if (deps.auth.origin(request) === 'ok') return;
  throw new GatewayError('auth.origin_forbidden', { message: deps.auth.refuseOrigin(request) });
}

const UNMATCHED_RULE = 'admin';

/**
 * Returns the route after the tier check. A path without a route counts as admin; 404 and 405 are
 * distinguished only for callers that may see it.
 */
export function guardClass(
  deps: GuardDeps,
  match: Target,
  caller: Caller,
  request: AuthRequest,
): MatchedRoute {
  const { route } = match;
  const verdict = deps.auth.decide(route?.auth ?? UNMATCHED_RULE, caller, request);
  const wrongKey = route !== null && isOpenInference(route) && deps.auth.refusesPresentedKey(caller);
  if (verdict === 'auth.required' || wrongKey)
    throw new GatewayError('auth.required', { message: requiredMessage(caller) });
  if (verdict === 'auth.forbidden') throw new GatewayError('auth.forbidden');
  if (route) return route;
  if (match.allow.length === 0) throw new GatewayError('route.not_found');
  throw new GatewayError('route.method_not_allowed', { headers: { allow: match.allow.join(', ') } });
}

const isOpenInference = ({ auth, path }: MatchedRoute): boolean => auth === 'open' && path.startsWith('/v1/');

/** The messages of 401 for callers that sent something; the catalogue has the one for a missing key. */
const REFUSED: Readonly<Record<RefusedCredential, string>> = {
  'wrong-key': 'This key is not valid here.',
  'x-api-key':
    'A key is required. The header x-api-key is read on /v1/messages only; send Authorization: Bearer <key>.',
};

const requiredMessage = ({ refused }: Caller): string | undefined =>
  refused === undefined ? undefined : REFUSED[refused];

/**
 * Applies the limiter for the rows that declare it (docs/spec/specification.md#login-limiter); 429 with
 * `details.retry_after_s`. During a search for keys it also delays the request, but never refuses for that
 * reason.
 */
async function guardLimiter(deps: GuardDeps, request: AuthRequest): Promise<void> {
  const verdict = deps.auth.limiter.take(deps.auth.address(request));
  if (verdict.ok) {
    if (verdict.delayMs > 0) await setTimeout(verdict.delayMs);
    return;
  }
  throw new GatewayError('auth.rate_limited', {
    details: { retry_after_s: verdict.retryAfterS },
    retryAfterS: verdict.retryAfterS,
  });
}

/**
 * Checks Origin, tier, class and limiter of an admitted request, in the order of
 * docs/spec/contract.md#request-order. `match` is the route that runs. Only the limiter is asynchronous.
 */
export function guard(
  deps: GuardDeps,
  { target, auth }: Admitted,
  match: Target,
  { id, receivedAt }: Pick<Call, 'id' | 'receivedAt'>,
): Call | Promise<Call> {
  guardOrigin(deps, auth);
  const caller = deps.auth.caller(auth);
  const route = guardClass(deps, match, caller, auth);
  const call = { id, receivedAt, target, auth, caller, route };
  return route.limiter ? guardLimiter(deps, auth).then(() => call) : call;
}
