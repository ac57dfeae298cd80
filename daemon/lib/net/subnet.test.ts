import { expect, it } from 'vitest';
import { subnetOf } from './subnet.ts';

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
