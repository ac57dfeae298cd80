import type { StatusView } from '../../daemon/contract/auth.ts';

/**
 * The session state of this browser.
 * `unknown`: not loaded yet; `open`: no key needed; `admin`: logged in; `first`: keys are required and this page never had
 * access; `closed`: keys are required and no admin key exists, so a login is impossible; `expired`: the session has ended;
 * `enforced`: the page had access without a key until keys became required; `lapsed`: no key is required, but the session
 * has ended and requests that need the admin key from another machine are refused.
 */
export type SessionState =
  | 'unknown'
  | 'open'
  | 'admin'
  | 'first'
  | 'closed'
  | 'expired'
  | 'enforced'
  | 'lapsed';

/** Whether the views are accessible in this state. */
export const isInside = (sessionState: SessionState): boolean =>
  sessionState === 'open' || sessionState === 'admin' || sessionState === 'lapsed';

/** Previous access of this page. */
export interface PreviousAccess {
  readonly inside: boolean;
  readonly session: boolean;
  /** The session ended while no key was required; this is noticed only when a request is refused. */
  readonly lapsed: boolean;
}

/** A page that never had access. */
export const NO_ACCESS: PreviousAccess = { inside: false, session: false, lapsed: false };

/**
 * Derives the session state from `auth.status`, the previous access, and whether a request of the page was `refused` for
 * lack of a login.
 */
export function sessionStateOf(
  status: StatusView | undefined,
  past: PreviousAccess,
  refused: boolean,
): SessionState {
  if (status === undefined) return 'unknown';
  // Without an admin key, a valid session gives no access either.
  const keyless = status.auth_required && !status.has_admin_key;
  if (status.tier === 'admin' && !keyless) return 'admin';
  if (!status.auth_required) return refused && (past.session || past.lapsed) ? 'lapsed' : 'open';
  if (past.session) return 'expired';
  if (past.inside) return 'enforced';
  return keyless ? 'closed' : 'first';
}

/** Updates the previous access; `first` and `closed` leave it unchanged. */
export function nextPreviousAccess(past: PreviousAccess, sessionState: SessionState): PreviousAccess {
  if (sessionState === 'admin') return { inside: true, session: true, lapsed: false };
  if (sessionState === 'open' || sessionState === 'lapsed')
    return { inside: true, session: false, lapsed: past.session || past.lapsed };
  return past;
}

const VIEW =
  /^\/(overview|setup|slots|models|playground|requests|hardware|memory|security|settings)(\/[a-z]+)?$/;
/** A placeholder origin: a URL that leads elsewhere resolves to another origin. */
const HERE = 'http://here.invalid';

/** Validates the view to open after a login, including its query; anything else becomes the overview. */
export function safeNext(next: string | null): string {
  if (next === null || !URL.canParse(next, HERE)) return '/overview';
  const url = new URL(next, HERE);
  if (url.origin !== HERE || !VIEW.test(url.pathname)) return '/overview';
  return url.pathname + url.search;
}

/**
 * The URL of the login page that leads back to the current view. Uses the window location, because the router passes the
 * query on partly unescaped.
 */
export const loginFor = ({ pathname, search }: Pick<Location, 'pathname' | 'search'>): string =>
  `/login?next=${encodeURIComponent(pathname + search)}`;

/** The view to open after the login of this URL. */
export const nextIn = ({ search }: Pick<Location, 'search'>): string =>
  safeNext(new URLSearchParams(search).get('next'));
