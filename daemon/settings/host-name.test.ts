import { expect, test } from 'vitest';
import { hostName } from './host-name.ts';

test.each([
  'gw',
  'gw.org',
  'Gw.Org.',
  'gw.org:8443',
  'a_b.org',
  'https://gw.org:3000',
  '10.0.0.5',
  '10.0.0.5:80',
  '[::1]',
  '[fd00::1]:8080',
  'müller.org',
  'пример.org',
])('%s is a host and stays unchanged', (entry) => {
  expect(hostName(entry)).toEqual({ ok: true, value: entry });
});

test.each([
  '',
  'a b',
  'a,b',
  '*.wild.org',
  'gw.org/x',
  'gw.org?x',
  'gw#',
  'u@gw.org',
  'a..b',
  '.org',
  'gw..',
  'gw:70000',
  'gw:x',
  '127.1',
  '0x7f.1',
  '256.1.1.1',
  '::1',
  '[::1',
  '[fe80::1%eth0]',
  'x'.repeat(64),
  `${'x.'.repeat(127)}org`,
  '\u3000',
])('%j is not a host', (entry) => {
  expect(hostName(entry)).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/^is not a host name such as/),
  });
});
