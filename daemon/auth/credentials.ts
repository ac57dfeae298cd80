import type { Tier } from '../contract/auth.ts';
import { decodeUtf8, isNamed } from './raw-headers.ts';
import type { AuthRequest } from './request.ts';
import { MAX_SESSION_COOKIES, sessionCookiesIn } from './session-cookie.ts';

/** The caller, as proven by a valid credential. */
export interface Caller {
  readonly tier: Tier;
  readonly via: 'cookie' | 'bearer' | 'api_key' | 'subprotocol' | 'x-api-key' | 'none';
  readonly sessionId: string | null;
  /** Why an anonymous caller is anonymous although it sent something; the error message says so. */
  readonly refused?: RefusedCredential;
}

/** A key that is not valid, or a key in `x-api-key` only, where that header is not read. */
export type RefusedCredential = 'wrong-key' | 'x-api-key';

/**
 * The unverified credentials of a request. Null for a carrier that is absent, empty, malformed or oversized.
 */
export interface OfferedCredentials {
  /** At most four. */
  cookies: readonly string[];
  bearer: string | null;
  apiKey: string | null;
  subprotocol: string | null;
  xApiKey: string | null;
  /** `x-api-key` was sent to a route that does not read it. */
  unreadXApiKey: boolean;
}

/** Longer texts are not keys. This bounds the work per request. */
const MAX_KEY_LENGTH = 4096;
const SUBPROTOCOL = 'openai-insecure-api-key.';
const REALTIME = '/v1/realtime';
const MESSAGES = '/v1/messages';
const NO_COOKIES: readonly string[] = [];

const bounded = (key: string): string | null => (key === '' || key.length > MAX_KEY_LENGTH ? null : key);

/** The key of `Authorization: Bearer <key>`: the scheme in any case, then spaces or tabs, then everything else. */
export function bearerKey(header: string): string | null {
  if (header.length > MAX_KEY_LENGTH + 64 || header.slice(0, 6).toLowerCase() !== 'bearer') return null;
  let start = 6;
  while (header.charCodeAt(start) === 0x20 || header.charCodeAt(start) === 0x09) start++;
  return start === 6 ? null : bounded(decodeUtf8(header.slice(start)));
}

/**
 * Returns the first `api_key` of a raw request target, percent-decoded. A plus sign is kept, because keys are
 * often base64. Returns null for a malformed escape.
 */
export function queryKey(url: string): string | null {
  const mark = url.indexOf('?');
  if (mark === -1 || !url.includes('api_key=', mark)) return null;
  const hash = url.indexOf('#');
  const query = hash === -1 ? url : url.slice(0, hash);
  for (let at = mark + 1; at <= query.length; ) {
    const next = query.indexOf('&', at);
    const end = next === -1 ? query.length : next;
    if (query.startsWith('api_key=', at)) return decodeKey(query.slice(at + 8, end));
    at = end + 1;
  }
  return null;
}

function decodeKey(text: string): string | null {
  if (text.length > 3 * MAX_KEY_LENGTH) return null;
  try {
    return bounded(decodeURIComponent(text));
  } catch {
    return null;
  }
}

/** The key in the subprotocol list of a browser's WebSocket. */
export function subprotocolKey(header: string): string | null {
  if (header.length > 2 * MAX_KEY_LENGTH || !header.includes(SUBPROTOCOL)) return null;
  for (const entry of header.split(',', 32)) {
    const protocol = entry.trim();
    if (protocol.startsWith(SUBPROTOCOL)) return bounded(protocol.slice(SUBPROTOCOL.length));
  }
  return null;
}

/** Whether the path of a target is exactly `path`. */
function isPath(url: string, path: string): boolean {
  return url.startsWith(path) && (url.length === path.length || '?#'.includes(url.charAt(path.length)));
}

/** Whether the target is a route of Anthropic's API, the only ones where `x-api-key` may carry a key. */
const isMessages = (url: string): boolean => isPath(url, MESSAGES) || url.startsWith(`${MESSAGES}/`);

/**
 * Reads the credentials of a request (docs/spec/specification.md#tier-resolution). Two carriers are added, each
 * on its own routes only: docs/spec/contract.md#subprotocol-credential and docs/spec/contract.md#x-api-key. The
 * first value of each header counts. Other carriers are ignored.
 */
export function readCredentials(
  request: Pick<AuthRequest, 'url' | 'rawHeaders' | 'upgrade'>,
): OfferedCredentials {
  const offered: OfferedCredentials = {
    cookies: NO_COOKIES,
    bearer: null,
    apiKey: queryKey(request.url),
    subprotocol: null,
    xApiKey: null,
    unreadXApiKey: false,
  };
  const raw = request.rawHeaders;
  const realtime = request.upgrade && isPath(request.url, REALTIME);
  let authorization = false;
  let xApiKey = false;
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] as string;
    const value = raw[i + 1] as string;
    if (isNamed(name, 'authorization')) {
      if (!authorization) offered.bearer = bearerKey(value);
      authorization = true;
    } else if (isNamed(name, 'cookie')) {
      offered.cookies = [...offered.cookies, ...sessionCookiesIn(value)].slice(0, MAX_SESSION_COOKIES);
    } else if (isNamed(name, 'x-api-key')) {
      if (!isMessages(request.url)) offered.unreadXApiKey = true;
      else if (!xApiKey) offered.xApiKey = bounded(decodeUtf8(value));
      xApiKey = true;
    } else if (realtime && isNamed(name, 'sec-websocket-protocol')) {
      offered.subprotocol ??= subprotocolKey(value);
    }
  }
  return offered;
}
