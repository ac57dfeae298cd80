import { expect, it } from 'vitest';
import { remoteHostOf } from './remote-host.ts';

const machine = { addresses: () => ['10.0.0.5', 'fd00::5%eth0', 'fe80::1%eth0'], name: () => 'Box.home' };

it.each([
  'http://localhost:8080',
  'http://127.0.0.1:8080',
  'http://127.9.9.9',
  'http://[::1]:8080',
  'http://[::ffff:127.0.0.1]',
  'http://0.0.0.0:8080',
  'https://10.0.0.5/gateway',
  'http://[fd00::5]:1',
  'http://box:8080',
  'http://BOX.home.:8080',
  'nonsense',
])('%s is this machine, or not an address of a machine', (url) =>
  expect(remoteHostOf(url, machine)).toBeNull(),
);

it.each([
  ['http://10.0.0.6:8080', '10.0.0.6'],
  ['http://[fd00::6]:8080', 'fd00::6'],
  ['https://box.elsewhere.org', 'box.elsewhere.org'],
  ['http://localhost.elsewhere.org', 'localhost.elsewhere.org'],
  ['http://127.0.0.1.elsewhere.org', '127.0.0.1.elsewhere.org'],
  ['http://127.0.0.1@elsewhere.org', 'elsewhere.org'],
])('%s is another machine', (url, host) => expect(remoteHostOf(url, machine)).toBe(host));

it('recognises the machine that it runs on', () =>
  expect(remoteHostOf('http://192.0.2.1')).toBe('192.0.2.1'));
