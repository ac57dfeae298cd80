import { describe, expect, it } from 'vitest';
import type { GatewayError } from '../contract/errors.ts';
import { proxyList } from './client-address.ts';
import { createKeys } from './keys.ts';
import { isOverTls, login } from './login.ts';
import { aRequest } from './testing.ts';

const forwarding = (trust: boolean) => ({ trust, proxies: proxyList([]) });

function setup(admin: string, client: string) {
  let started = 0;
  const sessions = {
    start: () => `payload.signature${++started}`,
    idOf: () => null,
    revoke: () => false,
    list: () => [],
    endAll: async () => {},
  };
  return {
    parts: { keys: createKeys({ admin: () => admin, client: () => client }), sessions },
    started: () => started,
  };
}

describe('login', () => {
  it('K13 the admin key starts a new session each time', () => {
    const { parts } = setup('A', 'C');
    expect(login('A', false, parts)).toMatch(/^svc_session=payload\.signature1; /);
    expect(login('A', true, parts)).toMatch(/^svc_session=payload\.signature2; .*Secure/);
  });

  it('D15 the client key, a wrong key, a blank key and every key without an admin key are refused', () => {
    for (const [admin, offered] of [
      ['A', 'C'],
      ['A', 'x'],
      ['A', ''],
      ['A', ' A'],
      ['', ''],
      ['', 'A'],
      ['  ', '  '],
      ['', 'undefined'],
    ] as const) {
      const { parts, started } = setup(admin, 'C');
      let error: unknown;
      try {
        login(offered, false, parts);
      } catch (thrown) {
        error = thrown;
      }
      expect((error as GatewayError).code).toBe('auth.invalid_key');
      expect((error as GatewayError).status).toBe(401);
      expect(started()).toBe(0);
    }
  });

  it('D05 Secure only when the login came over TLS', () => {
    const tls = (headers: Record<string, string>, trust: boolean) =>
      isOverTls(aRequest({ with: headers }), forwarding(trust));
    expect(tls({ Origin: 'https://box.lan' }, false)).toBe(true);
    expect(tls({ Origin: 'HTTPS://box.lan' }, false)).toBe(true);
    for (const origin of ['http://box.lan', 'http://https://box.lan', ''])
      expect(tls({ Origin: origin }, false)).toBe(false);
    expect(tls({}, true)).toBe(false);
    expect(tls({ 'X-Forwarded-Proto': 'https' }, false)).toBe(false);
    expect(tls({ 'X-Forwarded-Proto': 'https' }, true)).toBe(true);
    expect(tls({ 'X-Forwarded-Proto': 'http' }, true)).toBe(false);
  });
});
