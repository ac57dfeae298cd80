import { describe, expect, it } from 'vitest';
import { recordedLog } from '../lib/testing/recorded-log.ts';
import type { Caller } from './credentials.ts';
import { createGuards } from './guards.ts';
import { aRequest, memorySettings } from './testing.ts';

type Values = Parameters<typeof memorySettings>[0];

const ANON: Caller = { tier: 'anon', via: 'none', sessionId: null };
const CLIENT: Caller = { tier: 'client', via: 'bearer', sessionId: null };
const ADMIN: Caller = { tier: 'admin', via: 'bearer', sessionId: null };

function setup(
  values: Values = {},
  posture: {
    hasAdminKey?: boolean;
    hasClientKey?: boolean;
    loopback?: boolean;
    secrets?: () => readonly string[];
  } = {},
) {
  const settings = memorySettings(values);
  const { log, lines } = recordedLog();
  const guards = createGuards({
    settings,
    verifier: { verifySession: () => null, verifyKey: (key) => (key === 'A' ? 'admin' : null) },
    localHostnames: { names: ['box'], searchDomains: [] },
    log,
    enforced: () => settings.value('requireAuth'),
    hasAdminKey: () => posture.hasAdminKey ?? true,
    hasClientKey: () => posture.hasClientKey ?? true,
    unusableAdminKey: () => false,
    listener: () => ({ loopback: posture.loopback ?? false }),
    secrets: posture.secrets,
  });
  return {
    settings,
    guards,
    lines,
    warnings: () => lines.filter(({ level }) => level === 'warn').map(({ msg }) => String(msg)),
  };
}

describe('guards', () => {
  it('reads the credential from the request', () => {
    const { guards } = setup();
    expect(guards.caller(aRequest({ with: { authorization: 'bearer A' } }))).toMatchObject({
      tier: 'admin',
      via: 'bearer',
    });
    expect(guards.caller(aRequest({ url: '/x?api_key=A' }))).toMatchObject({ tier: 'admin', via: 'api_key' });
    expect(guards.caller(aRequest())).toMatchObject({ tier: 'anon' });
  });

  it('O11 the Origin check ignores GET and applies to writes and upgrades', () => {
    const { guards } = setup();
    const foreign = { Origin: 'http://evil.org' };
    expect(guards.origin(aRequest({ with: foreign }))).toBe('ok');
    expect(guards.origin(aRequest({ method: 'POST', with: foreign }))).toBe('forbidden');
    expect(guards.origin(aRequest({ upgrade: true, with: foreign }))).toBe('forbidden');
    expect(guards.origin(aRequest({ method: 'PUT', with: { Origin: 'http://127.0.0.1:8080' } }))).toBe('ok');
    expect(
      guards.origin(
        aRequest({ method: 'PUT', with: { Origin: 'http://evil.org', 'X-Forwarded-Host': 'evil.org' } }),
      ),
    ).toBe('forbidden');
  });

  it('O07 O16 the allowlist is read live, for origins, hosts and CORS', () => {
    const { guards, settings } = setup();
    const request = aRequest({
      method: 'POST',
      with: { Host: 'chat.mine.org', Origin: 'https://ui.mine.org' },
    });
    expect([guards.origin(request), guards.host(request), guards.corsOrigin(request)]).toEqual([
      'forbidden',
      'forbidden',
      null,
    ]);
    settings.file.allowedOrigins = ['https://ui.mine.org'];
    expect([guards.origin(request), guards.host(request), guards.corsOrigin(request)]).toEqual([
      'ok',
      'forbidden',
      'https://ui.mine.org',
    ]);
    settings.file.allowedHosts = ['chat.mine.org'];
    expect(guards.host(request)).toBe('ok');
    expect(guards.host(aRequest({ with: { Host: 'ui.mine.org' } }))).toBe('ok');
    settings.file.allowedHosts = [];
    expect(guards.host(request)).toBe('forbidden');
  });

  it('a refused origin is logged once with the entry to add, and at most 32 are', () => {
    const { guards, warnings } = setup();
    const refused = (origin: string) =>
      guards.refuseOrigin(aRequest({ method: 'POST', with: { Origin: origin } }));
    for (let i = 0; i < 3; i++) refused('tauri://localhost');
    refused('null');
    expect(warnings()).toEqual([expect.stringContaining('SVC_ALLOWED_ORIGINS=tauri://localhost')]);
    for (let i = 0; i < 100; i++) refused(`http://h${i}.attacker.net`);
    expect(warnings()).toHaveLength(32);
  });

  it('an origin that contains the beginning of a secret is neither repeated nor logged', () => {
    const { guards, warnings } = setup({}, { secrets: () => ['short', 'Canary-Client-Key-"1%'] });
    const sent = aRequest({ method: 'POST', with: { Origin: 'http://canary-client-key--221.example' } });
    expect(guards.refuseOrigin(sent)).not.toContain('canary');
    expect(warnings()).toEqual([]);
    const harmless = aRequest({ method: 'POST', with: { Origin: 'http://short.example' } });
    expect(guards.refuseOrigin(harmless)).toContain('http://short.example');
  });

  it('O14 the Host check does not depend on enforcement', () => {
    for (const requireAuth of [true, false]) {
      const { guards } = setup({ requireAuth });
      expect(guards.host(aRequest({ with: { Host: 'attacker.org' } }))).toBe('forbidden');
      expect(guards.host(aRequest({ with: { Host: 'box:8080' } }))).toBe('ok');
      expect(guards.host({ ...aRequest(), rawHeaders: ['Host', 'box', 'host', 'box'] })).toBe('malformed');
    }
  });

  it('the remote-admin guard applies with a key, a listener beyond loopback and a remote caller', () => {
    const remote = aRequest({ peer: '192.168.1.9' });
    const local = aRequest();
    const proxied = aRequest({ with: { 'X-Forwarded-For': '127.0.0.1' } });
    const { guards } = setup();
    expect(guards.decide('admin', ANON, remote)).toBe('auth.required');
    expect(guards.decide('admin', CLIENT, remote)).toBe('auth.forbidden');
    expect(guards.decide('admin', ADMIN, remote)).toBe('pass');
    expect(guards.decide('bootstrap', ANON, remote)).toBe('auth.required');
    expect(guards.decide('memory', ANON, remote)).toBe('auth.required');
    expect(guards.decide('client', ANON, remote)).toBe('pass');
    expect(guards.decide('admin', ANON, local)).toBe('pass');
    expect(guards.decide('admin', ANON, proxied)).toBe('auth.required');
    expect(setup({}, { hasAdminKey: false }).guards.decide('admin', ANON, remote)).toBe('pass');
    expect(setup({}, { loopback: true }).guards.decide('admin', ANON, proxied)).toBe('pass');
    expect(setup({ guardRemoteAdmin: false }).guards.decide('admin', ANON, remote)).toBe('pass');
    expect(setup({ memoryClass: 'client' }).guards.decide('memory', ANON, remote)).toBe('pass');
    expect(setup({ trustForwardedFor: true }).guards.decide('admin', ANON, proxied)).toBe('pass');
  });

  it('F06 enforcement is evaluated for each decision', () => {
    const { guards, settings } = setup({}, { loopback: true });
    expect(guards.decide('client', ANON, aRequest())).toBe('pass');
    settings.file.requireAuth = true;
    expect(guards.decide('client', ANON, aRequest())).toBe('auth.required');
    expect(guards.decide('client', CLIENT, aRequest())).toBe('pass');
    expect(guards.decide('open', ANON, aRequest())).toBe('pass');
    settings.file.memoryClass = 'client';
    expect(guards.decide('memory', CLIENT, aRequest())).toBe('pass');
  });

  it.each([
    ['a wrong key', 'wrong-key', {}, true],
    ['no credential', undefined, {}, false],
    ['x-api-key where it is not read', 'x-api-key', {}, false],
    ['only an admin key is set', 'wrong-key', { hasClientKey: false }, true],
    ['only a client key is set', 'wrong-key', { hasAdminKey: false }, true],
    ['no key is set', 'wrong-key', { hasAdminKey: false, hasClientKey: false }, false],
  ] as const)('verify_presented_keys: %s', (_, refused, keys, expected) => {
    const caller: Caller = refused === undefined ? ANON : { ...ANON, refused };
    const { guards, settings } = setup({ verifyPresentedKeys: true }, keys);
    expect(guards.refusesPresentedKey(caller)).toBe(expected);
    settings.file.verifyPresentedKeys = false;
    expect(guards.refusesPresentedKey(caller)).toBe(false);
  });

  it('L08 warns once, naming the setting to change, when forwarding headers are not trusted', () => {
    const { guards, settings, warnings } = setup();
    const request = aRequest({ peer: '8.8.8.8', with: { 'X-Forwarded-For': '203.0.113.9' } });
    guards.address(request);
    guards.address(aRequest());
    expect(warnings()).toEqual([]);
    const behindProxy = aRequest({ with: { 'X-Forwarded-For': '203.0.113.9' } });
    for (let i = 0; i < 3; i++) expect(guards.address(behindProxy)).toBe('127.0.0.1');
    expect(warnings()).toEqual([expect.stringContaining('SVC_TRUST_FORWARDED_FOR')]);
    settings.file.trustForwardedFor = true;
    expect(guards.address(behindProxy)).toBe('203.0.113.9');
    for (let i = 0; i < 3; i++) expect(guards.address(request)).toBe('8.8.8.8');
    expect(warnings()).toHaveLength(2);
    expect(warnings()[1]).toContain('[security].trusted_proxies');
    settings.file.trustedProxies = ['8.8.8.0/24'];
    expect(guards.address(request)).toBe('203.0.113.9');
    expect(warnings()).toHaveLength(2);
  });

  it('warnings name the peer', () => {
    const { guards, settings, lines } = setup({ trustForwardedFor: true });
    const logged = (part: string) => lines.find(({ msg }) => String(msg).includes(part));
    guards.address(aRequest({ peer: '8.8.8.8', with: { 'X-Forwarded-For': '203.0.113.9' } }));
    expect(logged('does not list')).toMatchObject({ peer: '8.8.8.8' });
    settings.file.trustForwardedFor = false;
    guards.address(aRequest({ peer: '10.0.0.9', with: { 'X-Forwarded-For': '203.0.113.9' } }));
    expect(logged('SVC_TRUST_FORWARDED_FOR')).toMatchObject({ peer: '10.0.0.9' });
  });

  it('reports callers that share one address', () => {
    const { guards } = setup();
    expect(guards.sharedAddressCause()).toBeNull();
    for (const one of ['203.0.113.1', '203.0.113.2'])
      guards.observeForwarding(aRequest({ with: { 'X-Forwarded-For': one } }));
    expect(guards.sharedAddressCause()).not.toBeNull();
  });
});
