import { ERRORS } from '../contract/errors.ts';
import type { ClassRule } from '../contract/routes.ts';
import type { Log } from '../lib/log.ts';
import { isLoopback, isPrivate } from '../lib/net/addresses.ts';
import type { Settings } from '../settings/settings.ts';
import { clientAddress, type Forwarding, isRemote, type PeerInfo, proxyList } from './client-address.ts';
import { type Caller, readCredentials } from './credentials.ts';
import { derived } from './derived.ts';
import { type Decision, decide } from './gate.ts';
import { checkHost, type HostVerdict, hostNames } from './host.ts';
import type { LocalHostnames } from './local-hostnames.ts';
import {
  allowlistEntry,
  canonicalOrigins,
  checkOrigin,
  listedOrigin,
  originRefusal,
  requiresOriginCheck,
} from './origin.ts';
import { allHeaders, firstHeader } from './raw-headers.ts';
import { type RefusedOrigin, RefusedOrigins } from './refused-origins.ts';
import type { AuthRequest } from './request.ts';
import { createSharedAddressDetector, type SharedAddressCause } from './shared-address-detector.ts';
import { type CredentialVerifier, resolveTier } from './tier.ts';

/** The checks of one request, each with the current settings. */
export interface Guards {
  /** Returns the tier of the caller (docs/spec/specification.md#tier-resolution). */
  caller(request: AuthRequest): Caller;
  /**
   * Origin rules 1-4 for POST, PUT, PATCH, DELETE and upgrades; they always apply
   * (docs/spec/specification.md#origin-check).
   */
  origin(request: AuthRequest): 'ok' | 'forbidden';
  /** Returns the message for a forbidden Origin. Warns once for each origin. */
  refuseOrigin(request: Pick<AuthRequest, 'rawHeaders'>): string;
  /** The origins that were refused last and that no setting allows by now. */
  refusedOrigins(): RefusedOrigin[];
  /** The Origin as sent when SVC_ALLOWED_ORIGINS lists it, else null: the only value that CORS may echo. */
  corsOrigin(request: AuthRequest): string | null;
  /** Host check, regardless of enforcement. The pipeline refuses a `forbidden` host, or only logs it. */
  host(request: AuthRequest): HostVerdict;
  /**
   * Decides by class, tier, enforcement and remote-admin guard (docs/spec/contract.md#remote-admin-guard).
   * The request itself serves as `peer`.
   */
  decide(rule: ClassRule, caller: Caller, peer: PeerInfo): Decision;
  /**
   * Whether an open route of `/v1` refuses the caller because it sent a key that is not valid
   * (docs/spec/contract.md#verify-presented-keys). Without any key in api.env no key can be valid, so all pass.
   */
  refusesPresentedKey(caller: Caller): boolean;
  /** Limiter key and audit address (docs/spec/contract.md#limiter). */
  address(request: PeerInfo): string;
  forwarding(): Forwarding;
  /** Passes a request to the detector of shared addresses. */
  observeForwarding(request: PeerInfo): void;
  /** Why several callers counted as one address within the last hour; null when they did not. */
  sharedAddressCause(): SharedAddressCause | null;
}

export interface AuthGuardDeps {
  settings: Pick<Settings, 'value'>;
  verifier: CredentialVerifier;
  localHostnames: LocalHostnames;
  log: Log;
  enforced: () => boolean;
  hasAdminKey: () => boolean;
  hasClientKey: () => boolean;
  unusableAdminKey: () => boolean;
  listener: () => { loopback: boolean };
  /** Values that no message may contain; default: none. */
  secrets?: (() => readonly string[]) | undefined;
}

export function createGuards(options: AuthGuardDeps): Guards {
  const { settings, log } = options;
  const once = onlyOnce();
  const refusedOrigins = new RefusedOrigins();
  const detector = createSharedAddressDetector();
  const origins = derived(() => settings.value('allowedOrigins'), canonicalOrigins);
  const originHosts = derived(
    () => settings.value('allowedOrigins'),
    (list) => new Set(hostNames(list)),
  );
  const allowedHosts = derived(
    () => settings.value('allowedHosts'),
    (list) => new Set(hostNames(list)),
  );
  const proxies = derived(() => settings.value('trustedProxies'), proxyList);
  const knownHosts = {
    localHostnames: options.localHostnames,
    isConfigured: (name: string) => originHosts().has(name) || allowedHosts().has(name),
  };
  const forwarding = (): Forwarding => ({ trust: settings.value('trustForwardedFor'), proxies: proxies() });

  return {
    forwarding,
    observeForwarding: (request) => detector.observe(request, forwarding()),
    sharedAddressCause: () => detector.cause(forwarding()),
    caller: (request) => resolveTier(readCredentials(request), options.verifier),
    origin({ method, upgrade, rawHeaders }) {
      if (!requiresOriginCheck(method, upgrade)) return 'ok';
      const sent = allHeaders(rawHeaders, 'origin');
      return checkOrigin({ origins: sent, hosts: allHeaders(rawHeaders, 'host'), allowed: origins() });
    },
    refuseOrigin({ rawHeaders }) {
      const sent = allHeaders(rawHeaders, 'origin');
      const message = originRefusal(sent);
      const entry = allowlistEntry(sent);
      // The comparison of origins ignores case, so redaction by value would miss a secret in one.
      if (entry !== null && containsSecretStart(entry, options.secrets?.() ?? []))
        return ERRORS['auth.origin_forbidden'].message;
      if (entry !== null && refusedOrigins.add(entry, Date.now()))
        log.warn({ event: 'origin.refused', origin: entry }, message);
      return message;
    },
    refusedOrigins: () => refusedOrigins.list(origins()),
    corsOrigin: ({ rawHeaders }) => listedOrigin(allHeaders(rawHeaders, 'origin'), origins()),
    host: ({ rawHeaders }) => checkHost(allHeaders(rawHeaders, 'host'), knownHosts),
    decide(rule, { tier }, peer) {
      if (rule === 'open') return 'pass';
      const enforced = options.enforced();
      const guarded = settings.value('guardRemoteAdmin') && !options.listener().loopback;
      return decide(rule, tier, {
        enforced,
        hasAdminKey: options.hasAdminKey(),
        unusableAdminKey: options.unusableAdminKey(),
        memoryClass: settings.value('memoryClass'),
        guarded,
        remote: !enforced && guarded && isRemote(peer, forwarding()),
      });
    },
    refusesPresentedKey: ({ refused }) =>
      refused === 'wrong-key' &&
      settings.value('verifyPresentedKeys') &&
      (options.hasAdminKey() || options.hasClientKey()),
    address(request) {
      const how = forwarding();
      const { address, from } = clientAddress(request, how);
      if (from === 'ignored') once('ignored', () => log.warn({ peer: address }, IGNORED));
      if (!how.trust && firstHeader(request.rawHeaders, 'x-forwarded-for') !== undefined) {
        if (isLoopback(address) || isPrivate(address))
          once('untrusted', () => log.warn({ peer: address }, UNTRUSTED));
      }
      return address;
    },
  };
}

/** Characters at the start of a secret by which a text is recognised that contains it. */
const SECRET_START = 12;

const containsSecretStart = (text: string, secrets: readonly string[]): boolean =>
  secrets.some(
    (secret) => secret.length >= SECRET_START && text.includes(secret.slice(0, SECRET_START).toLowerCase()),
  );

const IGNORED =
  'X-Forwarded-For is ignored: it comes from a public address that [security].trusted_proxies does not list';
const UNTRUSTED =
  'X-Forwarded-For is not read, so all callers behind this proxy share one login limit; if the proxy overwrites the header, set SVC_TRUST_FORWARDED_FOR=true';

/** Runs the action once per name. */
function onlyOnce(): (name: string, act: () => void) => void {
  const done = new Set<string>();
  return (name, act) => {
    if (done.has(name)) return;
    done.add(name);
    act();
  };
}
