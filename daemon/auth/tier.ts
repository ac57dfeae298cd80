import type { Caller, Offered } from './credentials.ts';
import type { KeyTier } from './keys.ts';

/** What judges the offered credentials. */
export interface Judges {
  /** The id of the valid session that a cookie value proves, or null. */
  session(cookie: string): string | null;
  /** The tier that a key opens, or null. */
  key(offered: string): KeyTier | null;
}

type Step = (offered: Offered, judges: Judges) => Caller | null;
type KeyCarrier = 'bearer' | 'api_key' | 'subprotocol';

const caller = (tier: KeyTier, via: KeyCarrier): Caller => Object.freeze({ tier, via, sessionId: null });
const forCarrier = (via: KeyCarrier) => ({ admin: caller('admin', via), client: caller('client', via) });
const BY_KEY = {
  bearer: forCarrier('bearer'),
  api_key: forCarrier('api_key'),
  subprotocol: forCarrier('subprotocol'),
};
const ANON: Caller = Object.freeze({ tier: 'anon', via: 'none', sessionId: null });
const ANON_X_API_KEY: Caller = Object.freeze({ ...ANON, hint: 'x-api-key' });

function byKey(key: string | null, via: KeyCarrier, judges: Judges): Caller | null {
  const tier = key === null ? null : judges.key(key);
  return tier === null ? null : BY_KEY[via][tier];
}

/** 1. A valid session cookie is admin; a session is never client. */
const byCookie: Step = ({ cookie }, judges) => {
  const sessionId = cookie === null ? null : judges.session(cookie);
  return sessionId === null ? null : { tier: 'admin', via: 'cookie', sessionId };
};

/** 2. `Authorization: Bearer`. */
const byBearer: Step = ({ bearer }, judges) => byKey(bearer, 'bearer', judges);

/** 3. Query parameter `api_key`. */
const byApiKey: Step = ({ apiKey }, judges) => byKey(apiKey, 'api_key', judges);

/**
 * Subprotocol of browsers' WebSockets, read after the three carriers of the specification
 * (docs/spec/contract.md#subprotocol-credential).
 */
const bySubprotocol: Step = ({ subprotocol }, judges) => byKey(subprotocol, 'subprotocol', judges);

/** 4. Otherwise: anon. */
const otherwise = (offered: Offered): Caller => {
  const others = offered.cookie ?? offered.bearer ?? offered.apiKey ?? offered.subprotocol;
  return offered.xApiKey && others === null ? ANON_X_API_KEY : ANON;
};

const STEPS: readonly Step[] = [byCookie, byBearer, byApiKey, bySubprotocol];

/**
 * The first valid credential decides, in the order of docs/spec/specification.md#tier-resolution. Invalid
 * credentials are skipped.
 */
export function resolveTier(offered: Offered, judges: Judges): Caller {
  for (const step of STEPS) {
    const found = step(offered, judges);
    if (found !== null) return found;
  }
  return otherwise(offered);
}
