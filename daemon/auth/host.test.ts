import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { hostName } from '../settings/host-name.ts';
import { checkHost, hostNames, type KnownHosts } from './host.ts';

const listed = hostNames([
  'gw.mydomain.org',
  'Gw2.mydomain.org:8443',
  'https://chat.mydomain.org:3000',
  '*.wild.org',
  '',
]);
const known: KnownHosts = {
  localHostnames: { names: ['box', 'box.home.net'], searchDomains: ['fritz.box'] },
  isConfigured: (name) => listed.includes(name),
};
const judge = (...hosts: string[]) => checkHost(hosts, known);

test('normalises the hosts of a list and skips invalid entries', () => {
  expect(listed).toEqual(['gw.mydomain.org', 'gw2.mydomain.org', 'chat.mydomain.org']);
  expect(hostNames([])).toEqual([]);
});

test('the Host check accepts every host that the setting accepts', () => {
  const piece = fc.constantFrom(
    'gw',
    '.',
    ':',
    '80',
    '[',
    ']',
    '::1',
    '%',
    '/',
    '//',
    'https',
    ' ',
    '@',
    'x7',
    '0',
    '-',
    '_',
    '\u00fc',
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 7 }), (pieces) => {
      const entry = pieces.join('');
      if (hostName(entry).ok) expect([entry, hostNames([entry]).length]).toEqual([entry, 1]);
    }),
    { numRuns: 5000 },
  );
});

describe('Host check', () => {
  it('O15 responds under addresses and private names by default', () => {
    const allowed = [
      '127.0.0.1',
      '127.0.0.1:8080',
      '192.168.1.5:8080',
      '8.8.8.8',
      '[::1]:8080',
      '[2001:db8::1]',
      'localhost',
      'LOCALHOST:8080',
      'a.localhost',
      'nas',
      'nas:8080',
      'box',
      'box.home.net',
      'name.local',
      'x.lan',
      'x.home',
      'x.home.arpa',
      'x.y.internal',
      'x.localdomain',
      'x.test',
      'x.example',
      'x.invalid',
      'example.com',
      'example.net',
      'example.org',
      'api.example.com',
      'fritz.box',
      'nas.fritz.box',
      'box.tail1234.ts.net',
      'name.local.',
    ];
    for (const host of allowed) expect([host, judge(host)]).toEqual([host, 'ok']);
  });

  it('O14 refuses every other name', () => {
    const refused = [
      'attacker.org',
      'attacker.org:8080',
      'localhost.attacker.org',
      'box.attacker.org',
      'box.a.attacker.org',
      'notlocal.attackerlocal.com',
      'evillan.org',
      'xexample.com',
      'example.com.evil.org',
      'evilfritz.box',
      'home.net',
      'a.box.home.net',
      'other.tail1234.ts.net',
      'box.ts.net',
      'ts.net',
      'a.box.tail1234.ts.net',
      'box.tail1234.ts.net.evil.org',
      '127.0.0.1.nip.io',
      'a.wild.org',
      'wild.org',
      'sub.gw.mydomain.org',
    ];
    for (const host of refused) expect([host, judge(host)]).toEqual([host, 'forbidden']);
  });

  it('O16 responds under configured hosts and hosts of listed origins, compared exactly, ignoring ports', () => {
    for (const host of [
      'gw.mydomain.org',
      'GW.mydomain.org.:1',
      'gw2.mydomain.org',
      'chat.mydomain.org:443',
    ]) {
      expect(judge(host)).toBe('ok');
    }
  });

  it('a missing, doubled or malformed Host is malformed', () => {
    expect(judge()).toBe('malformed');
    expect(judge('box', 'box')).toBe('malformed');
    for (const host of [
      '',
      ' ',
      'a/../b?x@y',
      'u@box',
      'box:x',
      'box:99999',
      'box, box',
      'a b',
      '[::1',
      '127.1',
      'a..b',
    ]) {
      expect([host, judge(host)]).toEqual([host, 'malformed']);
    }
  });

  it('O14 no registrable name passes with any prefix', () => {
    const label = fc.constantFrom(
      'box',
      'localhost',
      'lan',
      'local',
      'fritz',
      'example',
      'com',
      'home',
      'ts',
      'gw',
      '127',
      'xn--p1ai',
    );
    fc.assert(
      fc.property(fc.array(label, { maxLength: 5 }), (labels) => {
        expect(judge([...labels, 'attacker', 'org'].join('.'))).toBe('forbidden');
      }),
    );
  });
});
