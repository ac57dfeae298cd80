/**
 * The pure files that make access decisions: without network or files, every branch reached by a unit test
 * next to them.
 */
export const CORE: readonly string[] = [
  'daemon/auth/authority.ts',
  'daemon/auth/client-address.ts',
  'daemon/auth/credentials.ts',
  'daemon/auth/enforcement.ts',
  'daemon/auth/exposure.ts',
  'daemon/auth/gate.ts',
  'daemon/auth/guards.ts',
  'daemon/auth/host.ts',
  'daemon/auth/keys.ts',
  'daemon/auth/derived.ts',
  'daemon/auth/login-throttle.ts',
  'daemon/auth/login-limiter.ts',
  'daemon/auth/login.ts',
  'daemon/auth/origin.ts',
  'daemon/auth/raw-headers.ts',
  'daemon/auth/session-cookie.ts',
  'daemon/auth/sessions.ts',
  'daemon/auth/tier.ts',
  'daemon/http/framing.ts',
  'daemon/http/guards.ts',
  'daemon/http/matcher.ts',
  'daemon/lib/net/addresses.ts',
  'daemon/lib/net/request-target.ts',
  'daemon/settings/env-file.ts',
  'daemon/settings/env-scan.ts',
];
