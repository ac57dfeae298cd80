import { describe, expect, it } from 'vitest';
import { canonicalIp, wildcardFamily } from './ip-address.ts';

describe('canonicalIp', () => {
  it('L08 folds IPv4-mapped addresses, shortens IPv6 and drops zones', () => {
    for (const text of ['1.2.3.4', '::ffff:1.2.3.4', '::FFFF:102:304', '0:0:0:0:0:ffff:1.2.3.4'])
      expect(canonicalIp(text)).toBe('1.2.3.4');
    expect(canonicalIp('FE80:0::1%eth0')).toBe('fe80::1');
    expect(canonicalIp('2001:DB8:0:0:0:0:0:1')).toBe('2001:db8::1');
    for (const other of ['1::ffff:1:2', '::ffff:1:2:3']) expect(canonicalIp(other)).toBe(other);
  });

  it.each(['', 'unknown', '1.2.3', '1.2.3.4:80', '[::1]', '01.2.3.4', '1.2.3.4%eth0', 'h', '::g'])(
    '%j is not an address',
    (text) => expect(canonicalIp(text)).toBeNull(),
  );
});

describe('wildcardFamily', () => {
  it.each(['0.0.0.0', '::ffff:0.0.0.0', '::ffff:0:0'])('%s is the IPv4 wildcard', (bindHost) =>
    expect(wildcardFamily(bindHost)).toBe('IPv4'),
  );
  it.each(['::', '::0', '0:0:0:0:0:0:0:0', '::%lo', '::0.0.0.0'])('%s is the IPv6 wildcard', (bindHost) =>
    expect(wildcardFamily(bindHost)).toBe('IPv6'),
  );
  it.each(['127.0.0.1', '0.0.0.1', '::1', '192.168.1.5', 'localhost', ''])(
    '%j is not a wildcard',
    (bindHost) => expect(wildcardFamily(bindHost)).toBeNull(),
  );
});
