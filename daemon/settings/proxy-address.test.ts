import { expect, test } from 'vitest';
import { SETTINGS } from './catalogue.ts';
import { proxyAddress } from './proxy-address.ts';

test.each(['192.168.1.2', '10.8.0.0/24', 'fd00::/8', '::ffff:10.0.0.1'])('%s is kept as it is', (entry) => {
  expect(proxyAddress(entry)).toEqual({ ok: true, value: entry });
});

test.each(['', 'proxy.lan', '10.0.0.0/33', '10.0.0.1:80', '[::1]'])('%j is none', (entry) => {
  expect(proxyAddress(entry)).toEqual({
    ok: false,
    reason: expect.stringMatching(/^is no address or range/),
  });
});

test('a list with a wrong entry is not taken', () => {
  const { type: kind } = SETTINGS.trustedProxies;
  expect(kind.fromToml(['10.0.0.1', 'fd00::/8'])).toEqual({ ok: true, value: ['10.0.0.1', 'fd00::/8'] });
  expect(kind.fromToml(['10.0.0.1', 'proxy.lan'])).toMatchObject({ ok: false });
});
