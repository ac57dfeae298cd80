import { isLoopback } from '../../auth/addresses.ts';
import type { DoctorFacts } from '../facts.ts';
import { type Finding, fail, ok, warn } from '../finding.ts';

const isLocal = (host: string): boolean => host === 'localhost' || isLoopback(host);

/** Who may call the gateway, and with what. */
export function exposure({ settings, exposed }: DoctorFacts): Finding[] {
  const host = settings.value('bindHost');
  if (settings.value('requireAuth')) {
    if (settings.value('adminKey') !== '')
      return [ok('exposure', `Keys are required; it listens on ${host}.`)];
    const fix = 'sudo svcctl auth rotate admin, or SVC_ADMIN_KEY=<key> in api.env.';
    return [fail('exposure', 'Keys are required and no admin key is set: only open routes answer.', fix)];
  }
  if (exposed !== null) return [fail('exposure', exposed.message, exposed.fix)];
  if (isLocal(host)) return [ok('exposure', 'Keys are not required, and only this machine reaches it.')];
  const fix = 'svcctl auth rotate admin, then svcctl auth require on.';
  return [warn('exposure', `It listens on ${host} and no key is required.`, fix)];
}

/** What is believed of forwarding headers; what the running gateway has seen of them, it says as its warning `proxy`. */
export function proxy({ settings, gateway }: DoctorFacts): Finding[] {
  const seen = gateway.status?.warnings.find(({ id }) => id === 'proxy');
  const fix = 'Set SVC_TRUST_FORWARDED_FOR=on and [security] trusted_proxies; see docs/proxy.md.';
  if (seen !== undefined) return [warn('proxy', seen.message, fix)];
  if (!settings.value('trustForwardedFor')) {
    return [ok('proxy', 'Forwarding headers are not believed: right where no proxy stands in front.')];
  }
  if (isLocal(settings.value('bindHost')) || settings.value('trustedProxies').length > 0) {
    return [ok('proxy', 'Forwarding headers of the proxy are believed.')];
  }
  const message = 'Any neighbour on the network may say under which address he calls.';
  return [warn('proxy', message, 'Name the proxies: [security] trusted_proxies, or bind to 127.0.0.1.')];
}
