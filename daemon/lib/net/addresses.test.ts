import { BlockList, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addSubnet,
  canonicalIp,
  contains,
  isLoopback,
  isNotPublic,
  isPrivate,
  isPublic,
  isUnreachable,
  subnetOf,
  wildcardFamily,
} from './addresses.ts';

describe('addresses', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.9.9.9', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.0.1', 'private'],
    ['169.254.1.1', 'private'],
    ['100.64.0.1', 'private'],
    ['100.127.0.1', 'private'],
    ['fd00::1', 'private'],
    ['fe80::1%eth0', 'private'],
    ['::ffff:10.0.0.1', 'private'],
    ['8.8.8.8', 'public'],
    ['172.32.0.1', 'public'],
    ['172.15.0.1', 'public'],
    ['100.128.0.1', 'public'],
    ['203.0.113.9', 'public'],
    ['2606:4700::1', 'public'],
    ['::ffff:8.8.8.8', 'public'],
    ['128.0.0.1', 'public'],
    ['0.0.0.0', 'none'],
    ['::', 'none'],
    ['224.0.0.1', 'none'],
    ['255.255.255.255', 'none'],
    ['ff02::1', 'none'],
    ['', 'none'],
    ['unknown', 'none'],
  ])('%s is %s', (address, kind) => {
    expect([isLoopback(address), isPrivate(address), isPublic(address)]).toEqual([
      kind === 'loopback',
      kind === 'private',
      kind === 'public',
    ]);
  });

  it('reads addresses and ranges into a list and refuses the rest', () => {
    const list = new BlockList();
    for (const text of ['10.9.0.0/16', '192.0.2.7', '2001:db8::/32', '::ffff:198.51.100.4'])
      expect(addSubnet(list, text)).toBe(true);
    expect(addSubnet(list, 'proxy')).toBe(false);
    for (const address of ['10.9.255.1', '192.0.2.7', '2001:db8:9::1', '198.51.100.4', '::ffff:10.9.0.1'])
      expect(contains(list, address)).toBe(true);
    for (const address of ['10.10.0.1', '192.0.2.8', '2001:db9::1', 'x'])
      expect(contains(list, address)).toBe(false);
  });

  it('an address without a range is itself alone', () => {
    const list = new BlockList();
    for (const text of ['2001:db8::1', '192.0.2.7', 'fd00::/128']) expect(addSubnet(list, text)).toBe(true);
    for (const address of ['2001:db8::2', '2001:db8:1::1', '192.0.2.6', 'fd00::1'])
      expect(contains(list, address)).toBe(false);
    expect(contains(list, '2001:db8::1')).toBe(true);
  });
});

/**
 * The rows of IANA's special-purpose registries for IPv4 and IPv6 addresses, with other ranges that matter here.
 * `listener`: the kind of a bound address. `outgoing`: what a connection to the address may be used for.
 */
const REGISTRY: [range: string, first: string, last: string, listener: string, outgoing: string][] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', 'none', 'never'],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', 'private', 'own networks'],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', 'private', 'own networks'],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', 'loopback', 'own networks'],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', 'private', 'never'],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', 'private', 'own networks'],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', 'none', 'own networks'],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', 'public', 'own networks'],
  ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', 'public', 'any'],
  ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', 'public', 'any'],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', 'none', 'own networks'],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', 'private', 'own networks'],
  ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', 'public', 'any'],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', 'none', 'own networks'],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', 'public', 'own networks'],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', 'public', 'own networks'],
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', 'none', 'never'],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.254', 'none', 'own networks'],
  ['255.255.255.255/32', '255.255.255.255', '255.255.255.255', 'none', 'never'],
  ['::1/128', '::1', '::1', 'loopback', 'own networks'],
  ['::/128', '::', '::', 'none', 'never'],
  ['::/96', '::2', '::ffff:ffff', 'none', 'own networks'],
  ['::ffff:0:0/96, private', '::ffff:10.0.0.0', '::ffff:10.255.255.255', 'private', 'own networks'],
  ['::ffff:0:0/96, public', '::ffff:1.1.1.1', '::ffff:8.8.8.8', 'public', 'any'],
  ['::ffff:0:0/96, link-local', '::ffff:169.254.0.0', '::ffff:169.254.255.255', 'private', 'never'],
  ['::ffff:0:0:0/96', '::ffff:0:0:0', '::ffff:0:ffff:ffff', 'none', 'own networks'],
  ['64:ff9b::/96, public', '64:ff9b::101:101', '64:ff9b::808:808', 'none', 'any'],
  ['64:ff9b::/96, private', '64:ff9b::a00:0', '64:ff9b::aff:ffff', 'none', 'own networks'],
  ['64:ff9b::/96, loopback', '64:ff9b::7f00:0', '64:ff9b::7fff:ffff', 'none', 'own networks'],
  ['64:ff9b::/96, link-local', '64:ff9b::a9fe:0', '64:ff9b::a9fe:ffff', 'none', 'never'],
  ['64:ff9b:1::/48', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'none', 'own networks'],
  ['100::/64', '100::', '100::ffff:ffff:ffff:ffff', 'none', 'own networks'],
  ['2001::/32', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', 'none', 'own networks'],
  ['2001:1::1/128', '2001:1::1', '2001:1::3', 'none', 'own networks'],
  ['2001:2::/48', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff', 'none', 'own networks'],
  ['2001:3::/32', '2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff', 'public', 'any'],
  ['2001:4:112::/48', '2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff', 'public', 'any'],
  ['2001:10::/28', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff', 'none', 'own networks'],
  ['2001:20::/28', '2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff', 'public', 'any'],
  ['2001:30::/28', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff', 'public', 'any'],
  ['2001::/23, the rest', '2001:40::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', 'none', 'own networks'],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'public', 'own networks'],
  ['2002::/16', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'none', 'own networks'],
  ['2620:4f:8000::/48', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', 'public', 'any'],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'public', 'own networks'],
  ['5f00::/16', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'none', 'own networks'],
  ['fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'private', 'own networks'],
  ['fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'private', 'never'],
  ['fec0::/10', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'private', 'own networks'],
  ['ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'none', 'never'],
  ['fd00:ec2::/32', 'fd00:ec2::', 'fd00:ec2:ffff:ffff:ffff:ffff:ffff:ffff', 'private', 'never'],
  ['100.100.100.200/32', '100.100.100.200', '100.100.100.200', 'private', 'never'],
];
/** Addresses directly next to the ranges above. */
const NEIGHBOURS = [
  ...[
    '1.0.0.0',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
  ],
  ...['169.253.255.255', '169.255.0.0', '172.15.255.255', '172.32.0.0', '191.255.255.255', '192.0.1.0'],
  ...['192.0.3.0', '192.167.255.255', '192.169.0.0', '198.17.255.255', '198.20.0.0', '223.255.255.255'],
  ...[
    '2001:200::',
    '2001:db7:ffff::',
    '2001:db9::',
    '2003::',
    '2606:4700::1',
    '4000::',
    '64:ff9c::',
    '101::',
  ],
];

const listenerKind = (address: string): string => {
  if (isLoopback(address)) return 'loopback';
  if (isPrivate(address)) return 'private';
  return isPublic(address) ? 'public' : 'none';
};
const outgoingUse = (address: string): string => {
  if (isUnreachable(address)) return 'never';
  return isNotPublic(address) ? 'own networks' : 'any';
};

describe('special-purpose registries', () => {
  it.each(REGISTRY)('%s', (_, first, last, listener, outgoing) => {
    for (const address of [first, last]) {
      expect([address, listenerKind(address), outgoingUse(address)]).toEqual([address, listener, outgoing]);
    }
  });

  it.each(NEIGHBOURS)('%s belongs to no special range', (address) => {
    expect([listenerKind(address), outgoingUse(address)]).toEqual(['public', 'any']);
  });
});

describe('outgoing connections', () => {
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '0.0.0.0',
    '0.1.2.3',
    '100.100.100.200',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '[::]',
    'fe80::1',
    'fe80::1%eth0',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '[::ffff:a9fe:a9fe]',
    '64:ff9b::a9fe:a9fe',
    'ff02::1',
  ])('%s is unreachable', (address) => expect(isUnreachable(address)).toBe(true));

  it.each([
    '127.0.0.1',
    '10.0.0.7',
    '192.168.1.2',
    '100.64.0.1',
    '::1',
    'fd12:3456::1',
    '1.1.1.1',
    'host.lan',
    '',
  ])('%s is reachable', (address) => expect(isUnreachable(address)).toBe(false));

  it.each([
    '127.0.0.1',
    '10.0.0.7',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.2',
    '100.64.0.1',
    '169.254.169.254',
    '0.0.0.0',
    '198.18.0.1',
    '::1',
    '[::1]',
    '::ffff:10.0.0.1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fd12:3456::1',
    'fe80::1%eth0',
  ])('%s is not public', (address) => expect(isNotPublic(address)).toBe(true));

  it.each(['1.1.1.1', '172.32.0.1', '192.167.1.1', '2606:4700::1', '::ffff:1.1.1.1', 'host.lan'])(
    '%s is public or a name',
    (address) => expect(isNotPublic(address)).toBe(false),
  );
});

describe('subnetOf', () => {
  it.each([
    ['10.9.0.0/16', { address: '10.9.0.0', bits: 16, family: 'ipv4' }],
    ['192.0.2.7', { address: '192.0.2.7', bits: 32, family: 'ipv4' }],
    ['2001:DB8::/32', { address: '2001:db8::', bits: 32, family: 'ipv6' }],
    ['fd00::1', { address: 'fd00::1', bits: 128, family: 'ipv6' }],
    ['::ffff:198.51.100.4', { address: '198.51.100.4', bits: 32, family: 'ipv4' }],
    ['0.0.0.0/0', { address: '0.0.0.0', bits: 0, family: 'ipv4' }],
  ] as const)('reads %s', (text, subnet) => expect(subnetOf(text)).toEqual(subnet));

  it.each([
    '',
    'proxy',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/x',
    '10.0.0.0/-1',
    '::/129',
    '/8',
    '10.0.0.0/8/8',
  ])('refuses %j', (text) => expect(subnetOf(text)).toBeNull());
});

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

it('writes every IPv6 address like the URL standard', () => {
  const group = fc.oneof(
    fc.constant('0'),
    fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16)),
  );
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (groups) => {
      const text = groups.join(':');
      const canonical = canonicalIp(text) ?? '';
      if (isIPv6(canonical)) expect(`[${canonical}]`).toBe(new URL(`http://[${text}]/`).hostname);
    }),
  );
});
