import { parseAuthority } from '../../../daemon/auth/authority.ts';
import { checkHost } from '../../../daemon/auth/host.ts';
import { canonicalOrigins, checkOrigin, parseOrigin } from '../../../daemon/auth/origin.ts';
import { decodeUtf8 } from '../../../daemon/auth/raw-headers.ts';
import { assertProperty, assertSame } from '../assert.ts';

const KNOWN = { localHostnames: { names: ['box'], searchDomains: ['mine.org'] }, isConfigured: () => false };

const bare = (url: URL): string => url.hostname.replace(/\.$/, '');

/** The URL standard parses every accepted authority the same way. */
function likeTheStandard(text: string): void {
  const ours = parseAuthority(text);
  if (ours === null || decodeUtf8(text) !== text) return;
  const url = new URL(`http://${text}/`);
  assertSame([ours.host, ours.port ?? 80], [bare(url), Number(url.port || 80)], `authority ${text}`);
  assertSame(
    `${url.username}${url.password}${url.search}${url.hash}${url.pathname}`,
    '/',
    `authority ${text}`,
  );
}

/**
 * Reads Origin, Host and an allowlist of one from lines. An accepted request must match a rule of
 * docs/spec/specification.md#origin-check.
 */
export function fuzz(data: Buffer): void {
  const [origin = '', host = '', listed] = data.toString('latin1').split('\n');
  for (const text of [origin, host]) likeTheStandard(text);
  const own = parseAuthority(host);
  const allowed = canonicalOrigins(listed === undefined ? [] : [listed]);
  const verdict = checkOrigin({ origins: [origin], hosts: [host], allowed });
  const parsed = parseOrigin(origin);
  if (verdict === 'ok') {
    assertProperty(parsed !== null, `no origin passes: ${origin}`);
    const isOwn =
      parsed.web !== null &&
      parsed.web.host === own?.host &&
      (parsed.web.port ?? parsed.web.defaultPort) === (own.port ?? parsed.web.defaultPort);
    assertProperty(isOwn || allowed.has(parsed.canonical), `${origin} passes for ${host}`);
  }
  if (parsed?.web && decodeUtf8(origin) === origin) {
    assertSame(bare(new URL(origin)), parsed.web.host, `the host of ${origin}`);
  }
  const hostVerdict = checkHost([host], KNOWN);
  assertSame(hostVerdict === 'malformed', own === null, `the Host ${host}`);
}
