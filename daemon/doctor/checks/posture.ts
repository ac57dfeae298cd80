import { isLoopback } from '../../lib/net/addresses.ts';
import type { DoctorInput } from '../doctor-input.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';
import { areFilesDenied } from './files-denied.ts';

const isLocal = (host: string): boolean => host === 'localhost' || isLoopback(host);

interface Posture {
  host: string;
  keysRequired: boolean;
  adminKey: boolean;
}

/** Returns the posture of the running gateway, else that of the files; null when neither is readable. */
function postureOf(input: DoctorInput): Posture | null {
  const { status } = input.gateway;
  if (status !== null) {
    const { listener, enforcement, has_admin_key } = status;
    return { host: listener.bind_host, keysRequired: enforcement.require_auth, adminKey: has_admin_key };
  }
  if (areFilesDenied(input)) return null;
  const { settings } = input;
  return {
    host: settings.value('bindHost'),
    keysRequired: settings.value('requireAuth'),
    adminKey: settings.value('adminKey') !== '',
  };
}

/** Who may call the gateway, and with what. */
export function exposure(input: DoctorInput): Finding[] {
  const posture = postureOf(input);
  if (posture === null) return [];
  const { host } = posture;
  // Only the files show why a start would be refused.
  const exposed = areFilesDenied(input) ? null : input.exposureProblem;
  if (posture.keysRequired) {
    if (posture.adminKey) return [ok('exposure', `Keys are required; it listens on ${host}.`)];
    // Rotating a key requires an admin, and there is none now.
    const fix = 'Set SVC_ADMIN_KEY=<key> in api.env.';
    return [fail('exposure', 'Keys are required and no admin key is set: only open routes answer.', fix)];
  }
  if (exposed !== null) return [fail('exposure', exposed.message, exposed.fix)];
  if (isLocal(host)) return [ok('exposure', 'Keys are not required, and only this machine reaches it.')];
  const fix = 'svcctl auth rotate admin, then svcctl auth require on.';
  return [warn('exposure', `It listens on ${host} and no key is required.`, fix)];
}

/**
 * Reports which forwarding headers are trusted. The running gateway reports its observations as warning
 * `proxy`.
 */
export function proxy(input: DoctorInput): Finding[] {
  const { settings, gateway } = input;
  const warning = gateway.status?.warnings.find(({ id }) => id === 'proxy');
  const fix = 'Set SVC_TRUST_FORWARDED_FOR=on and [security] trusted_proxies; see docs/guide/proxy.md.';
  if (warning !== undefined) return [warn('proxy', warning.message, fix)];
  if (areFilesDenied(input)) return [];
  if (!settings.value('trustForwardedFor')) {
    return [ok('proxy', 'X-Forwarded-For is ignored (correct without a proxy).')];
  }
  if (isLocal(settings.value('bindHost')) || settings.value('trustedProxies').length > 0) {
    return [ok('proxy', 'X-Forwarded-For of the proxy is trusted.')];
  }
  const message = 'Any machine on the network can forge its client address.';
  return [warn('proxy', message, 'Name the proxies: [security] trusted_proxies, or bind to 127.0.0.1.')];
}
