import { describe, expect, it } from 'vitest';
import type { StatusView } from '../../daemon/contract/auth.ts';
import {
  sessionStateOf as gateWhen,
  isInside,
  loginFor,
  NO_ACCESS,
  nextIn,
  nextPreviousAccess,
  type PreviousAccess,
  type SessionState,
  safeNext,
} from './session-state.ts';

const status = (auth_required: boolean, tier: StatusView['tier']): StatusView => ({
  auth_required,
  has_admin_key: true,
  tier,
});
const nothing = NO_ACCESS;
const sessionStateOf = (status: StatusView | undefined, past: PreviousAccess): SessionState =>
  gateWhen(status, past, false);

describe('sessionStateOf', () => {
  it('is open without enforcement and admin with a session', () => {
    expect(sessionStateOf(undefined, nothing)).toBe('unknown');
    expect(sessionStateOf(status(false, 'anon'), nothing)).toBe('open');
    expect(sessionStateOf(status(true, 'admin'), nothing)).toBe('admin');
  });

  it('distinguishes a first visit, an expired session and enforcement switched on elsewhere', () => {
    expect(sessionStateOf(status(true, 'anon'), nothing)).toBe('first');
    expect(sessionStateOf(status(true, 'anon'), nextPreviousAccess(nothing, 'admin'))).toBe('expired');
    expect(sessionStateOf(status(true, 'anon'), nextPreviousAccess(nothing, 'open'))).toBe('enforced');
  });

  it('is closed while no admin key exists', () => {
    const keyless = { ...status(true, 'anon'), has_admin_key: false };
    expect(sessionStateOf(keyless, nothing)).toBe('closed');
    expect(nextPreviousAccess(nothing, 'closed')).toBe(nothing);
    expect(sessionStateOf({ ...keyless, tier: 'admin' }, nothing)).toBe('closed');
    expect(sessionStateOf({ ...keyless, auth_required: false }, nothing)).toBe('open');
    expect(sessionStateOf(keyless, nextPreviousAccess(nothing, 'open'))).toBe('enforced');
  });

  it('does not report expired for a session that ended while no key was required', () => {
    const past = nextPreviousAccess(nextPreviousAccess(nothing, 'admin'), 'open');
    expect(sessionStateOf(status(true, 'anon'), past)).toBe('enforced');
    expect(nextPreviousAccess(past, 'expired')).toBe(past);
  });

  it('reports a lapsed session without enforcement once a request is refused', () => {
    const anon = status(false, 'anon');
    const wasIn = nextPreviousAccess(nothing, 'admin');
    expect(gateWhen(anon, wasIn, true)).toBe('lapsed');
    // The status is read before the first poll is refused, or after a view without anything refused.
    const later = nextPreviousAccess(nextPreviousAccess(wasIn, 'open'), 'lapsed');
    expect(gateWhen(anon, later, true)).toBe('lapsed');
    expect(gateWhen(anon, later, false)).toBe('open');
    expect(gateWhen(anon, nextPreviousAccess(nothing, 'open'), true)).toBe('open');
    expect(gateWhen(status(false, 'admin'), later, true)).toBe('admin');
    expect(gateWhen(status(true, 'anon'), later, true)).toBe('enforced');
    expect(isInside('lapsed')).toBe(true);
  });
});

describe('safeNext', () => {
  it.each([
    ['/playground', '/playground'],
    ['/security/exposure', '/security/exposure'],
    ['/setup', '/setup'],
    ['/models/catalog', '/models/catalog'],
    ['/memory', '/memory'],
    ['/requests?q=chat&id=r%2F1', '/requests?q=chat&id=r%2F1'],
    ['/memory?q=100%25+a%26b', '/memory?q=100%25+a%26b'],
    ['/settings?next=//evil.example', '/settings?next=//evil.example'],
    ['/overview#//evil.example', '/overview'],
    ['/login', '/overview'],
    ['/login?next=/memory', '/overview'],
    ['/overview/../login?x', '/overview'],
    ['/overview/../../\\evil.example', '/overview'],
    ['/\\evil.example/overview', '/overview'],
    ['/\t/evil.example/overview', '/overview'],
    ['javascript:alert(1)//overview', '/overview'],
    ['http://[', '/overview'],
    ['//evil.example/overview', '/overview'],
    ['https://evil.example', '/overview'],
    [null, '/overview'],
  ])('%s leads to %s', (next, path) => expect(safeNext(next)).toBe(path));
});

it('leads back to the requested URL after a login, including query and escapes', () => {
  const search = '?q=100%25+a%26b&id=r%2F1';
  const login = loginFor({ pathname: '/requests', search });
  expect(login.startsWith('/login?next=%2Frequests%3Fq%3D100%2525')).toBe(true);
  expect(nextIn({ search: login.slice('/login'.length) })).toBe(`/requests${search}`);
  expect(nextIn({ search: '' })).toBe('/overview');
});
