import type { Caller, OfferedCredentials } from './credentials.ts';
import type { KeyTier } from './keys.ts';

/** Verifies credentials. */
export interface CredentialVerifier {
  /** The id of the valid session that a cookie value proves, or null. */
  verifySession(cookie: string): string | null;
  /** The tier that a key opens, or null. */
  verifyKey(offered: string): KeyTier | null;
}

type Step = (offered: OfferedCredentials, verifier: CredentialVerifier) => Caller | null;
type KeyCarrier = 'bearer' | 'api_key' | 'subprotocol' | 'x-api-key';

const caller = (tier: KeyTier, via: KeyCarrier): Caller => Object.freeze({ tier, via, sessionId: null });
const forCarrier = (via: KeyCarrier) => ({ admin: caller('admin', via), client: caller('client', via) });
const BY_KEY = {
  bearer: forCarrier('bearer'),
  api_key: forCarrier('api_key'),
  subprotocol: forCarrier('subprotocol'),
  'x-api-key': forCarrier('x-api-key'),
};
const ANON: Caller = Object.freeze({ tier: 'anon', via: 'none', sessionId: null });
const ANON_WRONG_KEY: Caller = Object.freeze({ ...ANON, refused: 'wrong-key' });
const ANON_X_API_KEY: Caller = Object.freeze({ ...ANON, refused: 'x-api-key' });

function byKey(key: string | null, via: KeyCarrier, verifier: CredentialVerifier): Caller | null {
  const tier = key === null ? null : verifier.verifyKey(key);
  return tier === null ? null : BY_KEY[via][tier];
}

/** 1. A valid session cookie is admin; a session is never client. */
const byCookie: Step = ({ cookies }, verifier) => {
  for (const cookie of cookies) {
    const sessionId = verifier.verifySession(cookie);
    if (sessionId !== null) return { tier: 'admin', via: 'cookie', sessionId };
  }
  return null;
};

/** 2. `Authorization: Bearer`. */
const byBearer: Step = ({ bearer }, verifier) => byKey(bearer, 'bearer', verifier);

/** 3. Query parameter `api_key`. */
const byApiKey: Step = ({ apiKey }, verifier) => byKey(apiKey, 'api_key', verifier);

/**
 * Subprotocol of browsers' WebSockets, read after the three carriers of the specification
 * (docs/spec/contract.md#subprotocol-credential).
 */
const bySubprotocol: Step = ({ subprotocol }, verifier) => byKey(subprotocol, 'subprotocol', verifier);

/**
 * The header of Anthropic's clients, read after the three carriers of the specification
 * (docs/spec/contract.md#x-api-key).
 */
const byXApiKey: Step = ({ xApiKey }, verifier) => byKey(xApiKey, 'x-api-key', verifier);

/** 4. Otherwise: anon. An invalid cookie is an expired session, not a wrong key. */
const otherwise = (offered: OfferedCredentials): Caller => {
  const { cookies, bearer, apiKey, subprotocol, xApiKey, unreadXApiKey } = offered;
  if ((bearer ?? apiKey ?? subprotocol ?? xApiKey) !== null) return ANON_WRONG_KEY;
  return unreadXApiKey && cookies.length === 0 ? ANON_X_API_KEY : ANON;
};

const STEPS: readonly Step[] = [byCookie, byBearer, byApiKey, bySubprotocol, byXApiKey];

/**
 * The first valid credential decides, in the order of docs/spec/specification.md#tier-resolution. Invalid
 * credentials are skipped.
 */
export function resolveTier(offered: OfferedCredentials, verifier: CredentialVerifier): Caller {
  for (const step of STEPS) {
    const found = step(offered, verifier);
    if (found !== null) return found;
  }
  return otherwise(offered);
}
