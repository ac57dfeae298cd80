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
 * Returns the value of `svc_session` in a Cookie header, or null when it is absent or the header is too long.
 * Of several cookies of this name the first counts, which for browsers is the one with the most specific
 * path. The others are not tried.
 */
export function sessionCookieIn(header: string): string | null {
  if (header.length > MAX_HEADER_LENGTH || !header.includes(SESSION_COOKIE)) return null;
  if (header.split(';', MAX_COOKIES + 1).length > MAX_COOKIES) return null;
  return parseCookie(header, { decode: (text) => text })[SESSION_COOKIE] ?? null;
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
