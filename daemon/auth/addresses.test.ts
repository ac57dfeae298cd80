import { BlockList } from 'node:net';
import { describe, expect, it } from 'vitest';
import { addSubnet, contains, isLoopback, isPrivate, isPublic } from './addresses.ts';

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

  it('an address without a prefix length matches only itself', () => {
    const list = new BlockList();
    for (const text of ['2001:db8::1', '192.0.2.7', 'fd00::/128']) expect(addSubnet(list, text)).toBe(true);
    for (const address of ['2001:db8::2', '2001:db8:1::1', '192.0.2.6', 'fd00::1'])
      expect(contains(list, address)).toBe(false);
    expect(contains(list, '2001:db8::1')).toBe(true);
  });
});
