import { expect, it } from 'vitest';
import { isNotPublic, isUnreachable } from './unreachable-address.ts';

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
