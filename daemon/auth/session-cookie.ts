import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';

export const SESSION_COOKIE = 'svc_session';
/** Time to live of a session in seconds: 8 hours (docs/spec/specification.md#session-cookie-attributes). */
export const SESSION_TTL_S = 28_800;
/** How much further ahead than a fresh session an expiry may be, because clocks are set back now and then. */
const CLOCK_SLACK_S = 60;

const MAX_VALUE_LENGTH = 512;
const MAX_HEADER_LENGTH = 16_384;
const MAX_COOKIES = 100;
/** How many cookies of the name are verified. */
export const MAX_SESSION_COOKIES = 4;
const NO_COOKIES: readonly string[] = [];
const SIGNATURE_CHARS = 43;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const SESSION_ID = /^[A-Za-z0-9_-]{1,128}$/;

export interface SessionPayload {
  readonly sessionId: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

const sign = (secret: Buffer, payload: string): Buffer =>
  createHmac('sha256', secret).update(payload).digest();

/**
 * Returns the cookie value `<payload>.<signature>`; the signature covers the base64url text of the payload
 * (docs/spec/contract.md#sessions).
 */
export function issueCookie(secret: Buffer, session: SessionPayload): string {
  const json = JSON.stringify({ session_id: session.sessionId, expires_at: session.expiresAt });
  const payload = Buffer.from(json).toString('base64url');
  return `${payload}.${sign(secret, payload).toString('base64url')}`;
}

/**
 * Returns the session that a cookie value proves at `nowS` (Unix seconds), or null. Accepts only the
 * canonical form that `issueCookie` produces: canonical base64url, a valid signature (compared in constant
 * time), exactly the two keys, an integer expiry later than now and at most 8 h + 60 s ahead.
 */
export function readCookie(secret: Buffer, value: string, nowS: number): SessionPayload | null {
  const dot = value.indexOf('.');
  if (value.length > MAX_VALUE_LENGTH || dot < 1 || value.length - dot - 1 !== SIGNATURE_CHARS) return null;
  const payload = value.slice(0, dot);
  const signature = decodeCanonical(value.slice(dot + 1));
  const json = decodeCanonical(payload);
  if (!signature || !json || !timingSafeEqual(signature, sign(secret, payload))) return null;
  const session = parsePayload(json.toString('utf8'));
  if (!session || session.expiresAt <= nowS) return null;
  return session.expiresAt <= nowS + SESSION_TTL_S + CLOCK_SLACK_S ? session : null;
}

/** Decodes base64url without padding, spaces, the standard alphabet or stray low bits; null for any of them. */
function decodeCanonical(text: string): Buffer | null {
  if (!BASE64URL.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

/**
 * Serialising the parsed value must give the same text. This refuses duplicate keys, other spellings of a
 * number, spaces and escapes, all of which a JSON parser accepts.
 */
function parsePayload(text: string): SessionPayload | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  if (Object.keys(value).length !== 2 || JSON.stringify(value) !== text) return null;
  const { session_id: id, expires_at: expires } = value as Record<string, unknown>;
  if (typeof id !== 'string' || !SESSION_ID.test(id)) return null;
  return Number.isSafeInteger(expires) ? { sessionId: id, expiresAt: expires as number } : null;
}

/**
 * Returns the values of the first four cookies `svc_session` in a Cookie header
 * (docs/spec/contract.md#several-cookies). Another service on the same host name can set a cookie of this name
 * with a more specific path, which browsers send first. None for a header that is too long.
 */
export function sessionCookiesIn(header: string): readonly string[] {
  if (header.length > MAX_HEADER_LENGTH || !header.includes(SESSION_COOKIE)) return NO_COOKIES;
  const pairs = header.split(';', MAX_COOKIES + 1);
  if (pairs.length > MAX_COOKIES) return NO_COOKIES;
  return pairs
    .flatMap((pair) => parseCookie(pair, { decode: (text) => text })[SESSION_COOKIE] ?? [])
    .slice(0, MAX_SESSION_COOKIES);
}

const attributes = (secure: boolean) => ({ httpOnly: true, sameSite: 'lax', path: '/', secure }) as const;

/**
 * Returns the Set-Cookie value that starts a session. It never has a Domain, and has `Secure` only when
 * requested (docs/spec/contract.md#cookie).
 */
export function setCookieHeader(value: string, secure: boolean): string {
  return stringifySetCookie({ name: SESSION_COOKIE, value, maxAge: SESSION_TTL_S, ...attributes(secure) });
}

/** The Set-Cookie value that removes the session cookie. */
export function clearCookieHeader(secure: boolean): string {
  return stringifySetCookie({ name: SESSION_COOKIE, value: '', maxAge: 0, ...attributes(secure) });
}
