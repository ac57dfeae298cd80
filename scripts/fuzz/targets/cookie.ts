import { createHmac } from 'node:crypto';
import { readCookie, SESSION_TTL_S, sessionCookiesIn } from '../../../daemon/auth/session-cookie.ts';
import { assertProperty, assertSame } from '../assert.ts';

const SECRET = Buffer.alloc(32, 7);
const NOW_S = 1_700_000_000;
const LATEST_S = NOW_S + SESSION_TTL_S + 60;
/** The valid form of a signed payload, expressed without a JSON parser. */
const SESSION = /^\{"session_id":"([\w-]{1,128})","expires_at":(\d{10})\}$/;
const SWAPPED = /^\{"expires_at":(\d{10}),"session_id":"([\w-]{1,128})"\}$/;

function expected(json: string): { sessionId: string; expiresAt: number } | null {
  const [, id, at] = SESSION.exec(json) ?? [];
  const [, otherAt, otherId] = SWAPPED.exec(json) ?? [];
  const sessionId = id ?? otherId;
  const expiresAt = Number(at ?? otherAt);
  return sessionId !== undefined && expiresAt > NOW_S && expiresAt <= LATEST_S
    ? { sessionId, expiresAt }
    : null;
}

/** The first four cookies of the name in a header, as RFC 6265 section 5.4 writes and section 4.2 reads it. */
function firstOf(header: string): string[] {
  const values: string[] = [];
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals === -1 || pair.slice(0, equals).replace(/^[ \t]+|[ \t]+$/g, '') !== 'svc_session') continue;
    values.push(pair.slice(equals + 1).replace(/^[ \t]+|[ \t]+$/g, ''));
  }
  return values.slice(0, 4);
}

/**
 * An odd first byte: a Cookie header, which proves nothing without the secret. An even one: a payload with a
 * valid signature, which proves a session only in its canonical form.
 */
export function fuzz(data: Buffer): void {
  const rest = data.subarray(1);
  if ((data[0] ?? 0) % 2 === 1) {
    const header = rest.toString('latin1');
    const values = sessionCookiesIn(header);
    if (values.length > 0) assertSame(values, firstOf(header), 'the cookies of a header');
    for (const value of [header, ...values])
      assertProperty(readCookie(SECRET, value, NOW_S) === null, 'a session without the secret');
    return;
  }
  const payload = rest.toString('base64url');
  const signature = createHmac('sha256', SECRET).update(payload).digest('base64url');
  const value = `${payload}.${signature}`;
  assertSame(
    readCookie(SECRET, value, NOW_S),
    value.length > 512 ? null : expected(rest.toString('latin1')),
    value,
  );
}
