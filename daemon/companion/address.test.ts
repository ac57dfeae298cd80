import { expect, it } from 'vitest';
import { companionAddress } from './address.ts';

const plan = (bindHost: string, publicUrl: string | null = null) => ({
  ...{ bindHost, port: 3000, publicUrl },
  isLoopback: bindHost === 'localhost' || bindHost.startsWith('127.'),
});

it.each([
  ['0.0.0.0', 'box.lan:8080', 'http://box.lan:3000/'],
  ['::', '[fd00::1]:8080', 'http://[fd00::1]:3000/'],
  ['::0', 'box.lan:8080', 'http://box.lan:3000/'],
  ['0.0.0.0', 'not a host', null],
  ['127.0.0.1', 'localhost:8080', 'http://localhost:3000/'],
  ['127.0.0.1', '127.0.0.1', 'http://127.0.0.1:3000/'],
  ['localhost', '[::1]:8080', 'http://[::1]:3000/'],
  ['127.0.0.1', 'box.lan:8080', null],
  ['192.168.1.5', 'box.lan', 'http://192.168.1.5:3000/'],
  ['fd00::5', 'box.lan', 'http://[fd00::5]:3000/'],
])('listening on %s, requested under %s: %s', (bindHost, host, expected) => {
  expect(companionAddress(plan(bindHost), host)).toBe(expected);
});

it('the public address comes first', () => {
  expect(companionAddress(plan('127.0.0.1', 'https://chat.example.com/'), 'box.lan')).toBe(
    'https://chat.example.com/',
  );
});
