import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalIp } from '../lib/net/addresses.ts';
import {
  clientAddress,
  forwardedEntry,
  forwardedTls,
  isForwarded,
  isRemote,
  proxyList,
} from './client-address.ts';

const forwarding = (trust: boolean, ...entries: string[]) => ({ trust, proxies: proxyList(entries) });
const ON = forwarding(true);
const OFF = forwarding(false);
const xff = (...values: string[]) => values.flatMap((value) => ['X-Forwarded-For', value]);
const address = (peer: string, rawHeaders: string[], how = ON) => clientAddress({ peer, rawHeaders }, how);

describe('client address', () => {
  it('L07 trust off: the peer, regardless of the header', () => {
    for (let i = 0; i < 1_000; i++) {
      expect(address('127.0.0.1', xff(`10.0.${i >> 8}.${i & 255}`), OFF)).toEqual({
        address: '127.0.0.1',
        from: 'peer',
      });
    }
  });

  it('folds an IPv4-mapped peer', () => {
    expect(address('::ffff:192.168.1.9', [], OFF).address).toBe('192.168.1.9');
    expect(address('', [], OFF).address).toBe('');
  });

  it('L08 trust on: uses a single value, and the rightmost value of a chain', () => {
    expect(address('127.0.0.1', xff('203.0.113.9'))).toEqual({ address: '203.0.113.9', from: 'proxy' });
    expect(address('10.0.0.2', xff('6.6.6.6, 203.0.113.9')).address).toBe('203.0.113.9');
    expect(address('10.0.0.2', xff('6.6.6.6', '203.0.113.9')).address).toBe('203.0.113.9');
    expect(address('::1', xff('::FFFF:203.0.113.9')).address).toBe('203.0.113.9');
  });

  it('L08 listed proxies are skipped from the right only', () => {
    const listed = forwarding(true, '198.51.100.0/24', '2001:db8::1');
    expect(
      address('127.0.0.1', xff('6.6.6.6, 203.0.113.9, 198.51.100.7, 2001:db8:0::1'), listed).address,
    ).toBe('203.0.113.9');
    expect(address('127.0.0.1', xff('198.51.100.7, 203.0.113.9'), listed).address).toBe('203.0.113.9');
    expect(address('127.0.0.1', xff('198.51.100.7'), listed)).toEqual({ address: '127.0.0.1', from: 'peer' });
    expect(address('198.51.100.9', xff('203.0.113.9'), listed).address).toBe('203.0.113.9');
    const one = forwarding(true, '198.51.100.77');
    expect(address('127.0.0.1', xff('198.51.100.77'), one)).toEqual({ address: '127.0.0.1', from: 'peer' });
  });

  it('L08 ports and brackets are parsed, invalid values fall back to the peer', () => {
    for (const [entry, expected] of [
      ['203.0.113.9:4711', '203.0.113.9'],
      ['[2001:db8::7]', '2001:db8::7'],
      ['[2001:DB8::7]:443', '2001:db8::7'],
      ['2001:db8::7', '2001:db8::7'],
    ] as const) {
      expect(forwardedEntry(entry)).toBe(expected);
      expect(address('127.0.0.1', xff(entry)).address).toBe(expected);
    }
    for (const garbage of [
      '',
      ' ',
      'unknown',
      '_hidden',
      '1.2.3',
      '1.2.3.4:port',
      '1.2.3.4:',
      '1.2.3.4:80x',
      '1.2.3.4:123456',
      'x1.2.3.4:80',
      '[1.2.3.4]',
      '[::1]x',
      'x[::1]',
      '[::1]:x',
      '[::1',
      '::1]',
      '"1.2.3.4"',
      '1.2.3.4 5.6.7.8',
      ',',
      'a'.repeat(999),
    ]) {
      expect(address('127.0.0.1', xff(`203.0.113.9, ${garbage}`))).toEqual({
        address: '127.0.0.1',
        from: 'peer',
      });
      expect(address('127.0.0.1', xff(garbage))).toEqual({ address: '127.0.0.1', from: 'peer' });
    }
  });

  it('the header of an unlisted public peer is ignored, and that is reported', () => {
    expect(address('8.8.8.8', xff('203.0.113.9'))).toEqual({ address: '8.8.8.8', from: 'ignored' });
    expect(address('8.8.8.8', []).from).toBe('peer');
  });

  it('an endless chain of proxies falls back to the peer', () => {
    const listed = forwarding(true, '198.51.100.7');
    expect(address('127.0.0.1', xff(`203.0.113.9${', 198.51.100.7'.repeat(100)}`), listed).address).toBe(
      '127.0.0.1',
    );
    const client = (proxies: number) =>
      address('127.0.0.1', xff(`203.0.113.9${', 198.51.100.7'.repeat(proxies)}`), listed).address;
    expect([client(63), client(64)]).toEqual(['203.0.113.9', '127.0.0.1']);
  });

  it('an entry is at most as long as an address with its zone and port', () => {
    const zoned = (length: number) => 'fe80::1%'.padEnd(length, 'z');
    expect([forwardedEntry(zoned(64)), forwardedEntry(zoned(65))]).toEqual(['fe80::1', null]);
  });

  it('L08 returns an address or the peer for every header', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.constantFrom('unknown', '[::1]:1', ','))),
        (entries) => {
          const found = address('127.0.0.1', xff(entries.join(',')));
          expect(canonicalIp(found.address)).toBe(found.address);
        },
      ),
    );
  });
});

describe('remote or local', () => {
  const remote = (peer: string, rawHeaders: string[], how = OFF) => isRemote({ peer, rawHeaders }, how);

  it('a loopback peer without forwarding headers is local, every other peer is not', () => {
    for (const peer of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
      expect(remote(peer, ['Host', 'h'])).toBe(false);
    for (const peer of ['10.0.0.1', '8.8.8.8', 'fe80::1%eth0', '']) expect(remote(peer, [])).toBe(true);
  });

  it('any forwarding header makes a loopback peer remote', () => {
    for (const name of [
      'X-Forwarded-For',
      'x-forwarded-proto',
      'X-Forwarded-Host',
      'Forwarded',
      'Via',
      'X-Real-IP',
      'CF-Connecting-IP',
      'True-Client-IP',
      'X-Client-IP',
      'X-Cluster-Client-IP',
      'X-Original-Forwarded-For',
      'Fastly-Client-IP',
    ]) {
      expect(isForwarded([name, '127.0.0.1'])).toBe(true);
      expect(remote('127.0.0.1', ['Host', 'h', name, '127.0.0.1'])).toBe(true);
    }
    expect(isForwarded(['Host', 'via', 'Accept', 'x-real-ip'])).toBe(false);
  });

  it('with trust on the forwarded address decides, but never for a peer on another machine', () => {
    expect(remote('127.0.0.1', xff('203.0.113.9'), ON)).toBe(true);
    expect(remote('127.0.0.1', xff('192.168.1.4'), ON)).toBe(true);
    expect(remote('127.0.0.1', xff('127.0.0.1'), ON)).toBe(false);
    expect(remote('127.0.0.1', xff('127.0.0.1, 203.0.113.9'), ON)).toBe(true);
    expect(remote('127.0.0.1', xff('unknown'), ON)).toBe(true);
    expect(remote('127.0.0.1', ['X-Real-IP', '127.0.0.1'], ON)).toBe(true);
    expect(remote('10.0.0.2', xff('127.0.0.1'), ON)).toBe(true);
  });
});

describe('TLS in front', () => {
  const tls = (peer: string, value: string, how = ON) =>
    forwardedTls({ peer, rawHeaders: ['X-Forwarded-Proto', value] }, how);

  it('is trusted with trust on and from a trusted forwarder', () => {
    for (const value of ['https', 'HTTPS', ' https , http']) expect(tls('127.0.0.1', value)).toBe(true);
    for (const value of ['http', '', 'http, https', 'httpsx']) expect(tls('127.0.0.1', value)).toBe(false);
    expect(tls('127.0.0.1', 'https', OFF)).toBe(false);
    expect(tls('8.8.8.8', 'https')).toBe(false);
    expect(tls('8.8.8.8', 'https', forwarding(true, '8.8.8.8'))).toBe(true);
    for (const rawHeaders of [[], ['X-Forwarded-Proto']])
      expect(forwardedTls({ peer: '127.0.0.1', rawHeaders }, ON)).toBe(false);
  });
});
