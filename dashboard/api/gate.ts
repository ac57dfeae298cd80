import type { StatusView } from '../../daemon/contract/auth.ts';

/**
 * Where this browser stands with the gateway.
 * `unknown`: not asked yet; `open`: no key needed; `admin`: logged in; `first`: keys are required and this page never
 * was inside; `closed`: the same, and nobody can get in, because there is no admin key; `expired`: it was logged in and
 * is not any more; `enforced`: it was inside without a key until keys became required; `lapsed`: no key is required, but
 * its session is over and what needs the admin key from another machine is refused to it.
 */
export type Gate = 'unknown' | 'open' | 'admin' | 'first' | 'closed' | 'expired' | 'enforced' | 'lapsed';

/** Whether the views answer at all from there. */
export const isInside = (gate: Gate): boolean => gate === 'open' || gate === 'admin' || gate === 'lapsed';

/** What the page remembers of its own past. */
export interface Past {
  readonly inside: boolean;
  readonly session: boolean;
  /** A session was over while no key was required, which is noticed only where something is refused. */
  readonly lapsed: boolean;
}

/** The past of a page that was never inside. */
export const NO_PAST: Past = { inside: false, session: false, lapsed: false };

/**
 * Decides the gate from the answer of `auth.status`, the past of the page, and whether something on the page was
 * `refused` to it for the want of a login.
 */
export function gateOf(status: StatusView | undefined, past: Past, refused: boolean): Gate {
  if (status === undefined) return 'unknown';
  // Without an admin key a session that is still good lets nobody in either.
  const keyless = status.auth_required && !status.has_admin_key;
  if (status.tier === 'admin' && !keyless) return 'admin';
  if (!status.auth_required) return refused && (past.session || past.lapsed) ? 'lapsed' : 'open';
  if (past.session) return 'expired';
  if (past.inside) return 'enforced';
  return keyless ? 'closed' : 'first';
}

/** The past after a gate was seen; `first` and `closed` forget nothing, because nothing was there. */
export function pastAfter(past: Past, gate: Gate): Past {
  if (gate === 'admin') return { inside: true, session: true, lapsed: false };
  if (gate === 'open' || gate === 'lapsed')
    return { inside: true, session: false, lapsed: past.session || past.lapsed };
  return past;
}

const VIEW =
  /^\/(overview|setup|slots|models|playground|requests|hardware|memory|security|settings)(\/[a-z]+)?$/;
/** Stands for this gateway, whatever it is called: whatever leads elsewhere shows by another origin. */
const HERE = 'http://here.invalid';

/** A view of the dashboard to go to after a login, with what its address says of it; anything else becomes the overview. */
export function safeNext(next: string | null): string {
  if (next === null || !URL.canParse(next, HERE)) return '/overview';
  const url = new URL(next, HERE);
  if (url.origin !== HERE || !VIEW.test(url.pathname)) return '/overview';
  return url.pathname + url.search;
}

/**
 * The address of the login that leads back to where one is. From the window, because the router hands the query on with
 * its escapes half taken away.
 */
export const loginFor = ({ pathname, search }: Pick<Location, 'pathname' | 'search'>): string =>
  `/login?next=${encodeURIComponent(pathname + search)}`;

/** Where the address of a login leads to. */
export const nextIn = ({ search }: Pick<Location, 'search'>): string =>
  safeNext(new URLSearchParams(search).get('next'));
