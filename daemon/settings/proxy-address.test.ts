import { expect, test } from 'vitest';
import { SETTINGS } from './catalogue.ts';
import { proxyAddress } from './proxy-address.ts';
import { parseInput } from './setting-types.ts';

test.each(['192.168.1.2', '10.8.0.0/24', 'fd00::/8', '::ffff:10.0.0.1'])('%s stays unchanged', (entry) => {
  expect(proxyAddress(entry)).toEqual({ ok: true, value: entry });
});

test.each(['', 'proxy.lan', '10.0.0.0/33', '10.0.0.1:80', '[::1]'])('%j is not an address', (entry) => {
  expect(proxyAddress(entry)).toEqual({
    ok: false,
    reason: expect.stringMatching(/^is not an address or range/),
  });
});

test('refuses to write a list with an invalid entry', () => {
  const { type } = SETTINGS.trustedProxies;
  expect(type.fromToml(['10.0.0.1', 'fd00::/8'])).toEqual({ ok: true, value: ['10.0.0.1', 'fd00::/8'] });
  expect(parseInput(type, ['10.0.0.1', 'proxy.lan'])).toMatchObject({ ok: false });
});
